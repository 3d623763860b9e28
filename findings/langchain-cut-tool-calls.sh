#!/usr/bin/env bash
# With @langchain/openai 1.5.8 and @langchain/core 1.4.0, a tool call that ends early, because the completion reached its token limit,
# becomes a valid call when it is streamed: the arguments are closed where they end, and a number or a text keeps what there is of it.
# The list of invalid calls is empty, and a tool runs with these arguments. Not streamed, the same call is invalid, as one expects
# (and @langchain/core warns that packages should be upgraded, which does not help). Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/openai@1.5.8 @langchain/core@1.4.0
cat >run.js <<'JS'
import { createServer } from "node:http";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
const call = (text) => ({
  content: null,
  tool_calls: [{ index: 0, id: "1", type: "function", function: { name: "pay", arguments: text } }],
});
let delta, finish_reason;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const head = { id: "1", created: 1, model: "m" };
  const message = { role: "assistant", ...delta };
  if (JSON.parse(text).stream) {
    response.setHeader("content-type", "text/event-stream");
    const choices = [{ index: 0, delta: message, finish_reason: null }, { index: 0, delta: {}, finish_reason }];
    for (const choice of choices)
      response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [choice] })}\n\n`);
    response.end("data: [DONE]\n\n");
  } else {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason }] }));
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const model = new ChatOpenAI({ model: "m", apiKey: "k", configuration: { baseURL: `http://127.0.0.1:${server.address().port}/v1` } });
const schema = { type: "object", properties: { to: { type: "string" }, euros: { type: "number" } }, required: ["to"] };
const pay = tool(({ to, euros }) => `${euros} to ${to}`, { name: "pay", description: "Pay.", schema });
for ([delta, finish_reason] of [
  [call('{"to": "Ada", "euros": 250}'), "tool_calls"],
  [call('{"to": "Ada", "euros": 2'), "length"],
  [call('{"euros": 250, "to": "A'), "length"],
]) {
  let streamed;
  for await (const chunk of await model.stream("Pay.")) streamed = streamed?.concat(chunk) ?? chunk;
  for (const [name, message] of Object.entries({ invoke: await model.invoke("Pay."), stream: streamed })) {
    const ran = await Promise.all(message.tool_calls.map(async (valid) => (await pay.invoke(valid)).content));
    console.log(`${finish_reason}, ${name}:`, JSON.stringify({ ran, invalid: message.invalid_tool_calls.length }));
  }
}
server.closeAllConnections();
server.close();
JS
diff <(node run.js) - <<'OUTPUT'
tool_calls, invoke: {"ran":["250 to Ada"],"invalid":0}
tool_calls, stream: {"ran":["250 to Ada"],"invalid":0}
length, invoke: {"ran":[],"invalid":1}
length, stream: {"ran":["2 to Ada"],"invalid":0}
length, invoke: {"ran":[],"invalid":1}
length, stream: {"ran":["250 to A"],"invalid":0}
OUTPUT
echo "As described."
