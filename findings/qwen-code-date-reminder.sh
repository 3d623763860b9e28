#!/usr/bin/env bash
# Qwen Code 0.24.4 puts a reminder of the date before each prompt of the user, and takes it out of the earlier ones when the conversation
# is continued. So the first request is no prefix of the second: a server that caches prompts computes the last turn of the history
# again, each time, also on the same day. Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @qwen-code/qwen-code@0.24.4
mkdir -p home/.qwen home/project
echo '{"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false}}' \
  >home/.qwen/settings.json
cat >run.js <<'JS'
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import path from "node:path";
const asked = [];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { messages } = JSON.parse(text);
  // It also asks for memories, with other instructions.
  if (messages[0].content.startsWith("You are Qwen Code")) asked.push(messages);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [delta, finish_reason] of [[{ role: "assistant", content: "Hi." }, null], [{}, "stop"]])
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  response.end("data: [DONE]\n\n");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const env = {
  PATH: process.env.PATH,
  HOME: path.resolve("home"),
  HTTPS_PROXY: "http://127.0.0.1:9",
  HTTP_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1",
  OPENAI_API_KEY: "k",
  OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
  OPENAI_MODEL: "m",
};
const bin = path.resolve("node_modules/.bin/qwen");
for (const args of [["-p", "Say hi."], ["--continue", "-p", "Once more."]]) {
  const child = spawn(bin, ["--auth-type", "openai", ...args], { cwd: "home/project", env, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
}
server.closeAllConnections();
server.close();
for (const messages of asked)
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "user") continue;
    const parts = content.flatMap(({ text }) => /The current date is|^Say hi|^Once more/.exec(text)?.[0] ?? []);
    console.log(`request ${asked.indexOf(messages) + 1}, message ${index}:`, parts.join(", "));
  }
JS
diff <(node run.js) - <<'OUTPUT'
request 1, message 1: The current date is, Say hi
request 2, message 1: Say hi
request 2, message 3: The current date is, Once more
OUTPUT
echo "As described."
