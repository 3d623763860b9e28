#!/usr/bin/env bash
# The option `n` of ChatOpenAI in @langchain/openai 1.5.8 asks for several completions. With stream(), their tokens come as one message,
# mixed in the order in which they arrive, and the finish reasons are joined too. invoke() returns the first completion alone. And where
# a server tells the usage so far in each chunk, response_metadata.usage adds the chunks up (the last one twice); usage_metadata is right.
# Seen on 2026-11-28 with Node 20 and @langchain/core 1.4.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/openai@1.5.8 @langchain/core@1.4.0
cat >run.js <<'JS'
import { createServer } from "node:http";
import { ChatOpenAI } from "@langchain/openai";
const texts = [["It ", "rains."], ["Sun ", "today."]];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { stream, n } = JSON.parse(text);
  const asked = texts.slice(0, n);
  const head = { id: "1", created: 1, model: "m" };
  response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
  if (!stream) {
    const choices = asked.map((t, index) => ({ index, message: { role: "assistant", content: t.join("") }, finish_reason: "stop" }));
    return response.end(JSON.stringify({ ...head, object: "chat.completion", choices }));
  }
  for (const [i, finish_reason] of [null, "stop"].entries())
    for (const [index, pieces] of asked.entries()) {
      const choices = [{ index, delta: { role: "assistant", content: pieces[i] }, finish_reason }];
      const usage = n === 1 ? { prompt_tokens: 5, completion_tokens: i + 1, total_tokens: i + 6 } : null;
      response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, usage })}\n\n`);
    }
  response.end("data: [DONE]\n\n");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const configuration = { baseURL: `http://127.0.0.1:${server.address().port}/v1` };
for (const n of [1, 2]) {
  const model = new ChatOpenAI({ model: "m", apiKey: "k", n, configuration });
  let streamed;
  for await (const chunk of await model.stream("Weather?")) streamed = streamed?.concat(chunk) ?? chunk;
  const { finish_reason, usage } = streamed.response_metadata;
  console.log(`n ${n}, invoke:`, JSON.stringify((await model.invoke("Weather?")).content));
  console.log(`n ${n}, stream:`, JSON.stringify(streamed.content), finish_reason);
  if (n === 1) console.log("prompt tokens:", usage.prompt_tokens, "and", streamed.usage_metadata.input_tokens);
}
server.closeAllConnections();
server.close();
JS
diff <(node run.js) - <<'OUTPUT'
n 1, invoke: "It rains."
n 1, stream: "It rains." stop
prompt tokens: 15 and 5
n 2, invoke: "It rains."
n 2, stream: "It Sun rains.today." stopstop
OUTPUT
echo "As described."
