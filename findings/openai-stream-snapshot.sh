#!/usr/bin/env bash
# The client openai 6.49.0 puts a streamed completion together with chat.completions.stream(). Of a field that it does not know,
# such as the reasoning_content of many servers, only the last piece is left in the completion, as if it were whole. If the first chunk
# has log probabilities, as it does where a server sends the role with the first token, they are in the completion twice.
# Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts openai@6.49.0
cat >run.js <<'JS'
import { createServer } from "node:http";
import OpenAI from "openai";
const token = (text) => ({ delta: { content: text }, logprobs: { content: [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }] } });
const role = { role: "assistant" };
const first = token("It ");
const streams = {
  reasoning: [
    { delta: { ...role, reasoning_content: "Rain or " } },
    { delta: { reasoning_content: "snow? " } },
    { delta: { reasoning_content: "Rain." } },
    { delta: { content: "It rains." } },
  ],
  "role apart": [{ delta: role }, first, token("rains")],
  "role with the first token": [{ ...first, delta: { ...role, ...first.delta } }, token("rains")],
};
for (const [name, choices] of Object.entries(streams)) {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/event-stream");
    for (const choice of [...choices, { delta: {}, finish_reason: "stop" }]) {
      const choices = [{ index: 0, finish_reason: null, logprobs: null, ...choice }];
      response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: "k" });
  const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "Weather?" }], logprobs: true });
  const [{ message, logprobs }] = (await stream.finalChatCompletion()).choices;
  console.log(`${name}:`, JSON.stringify([message.content, message.reasoning_content, logprobs?.content.map(({ token }) => token)]));
  server.closeAllConnections();
  server.close();
}
JS
diff <(node run.js) - <<'OUTPUT'
reasoning: ["It rains.","Rain.",null]
role apart: ["It rains",null,["It ","rains"]]
role with the first token: ["It rains",null,["It ","It ","rains"]]
OUTPUT
echo "As described."
