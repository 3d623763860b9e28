#!/usr/bin/env bash
# The client ollama 0.6.4 expects the error of a response as a text. A server that sends an object in its place, as all servers with
# OpenAI's API do, is quoted as "[object Object]": what is wrong is lost. Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts ollama@0.6.4
cat >run.js <<'JS'
import { createServer } from "node:http";
import { Ollama } from "ollama";
const errors = [{ message: "no such model", code: "model_not_found" }, "no such model"];
const server = createServer((request, response) => {
  response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: errors.shift() }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const client = new Ollama({ host: `http://127.0.0.1:${server.address().port}` });
while (errors.length > 0)
  await client.chat({ model: "m", messages: [] }).catch((error) => console.log(error.name, error.status_code, error.message));
server.close();
JS
diff <(node run.js) - <<'OUTPUT'
ResponseError 404 [object Object]
ResponseError 404 no such model
OUTPUT
echo "As described."
