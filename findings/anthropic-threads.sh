#!/usr/bin/env bash
# A thread of the client @anthropic-ai/sdk 1.14.0 sends only what is new, and refers to its history in the field `thread`. A server that
# ignores fields which it does not know, as most do, answers without the history, and nobody notices. One that refuses the field is no
# better off: with unsupportedRequestBehavior: "continue_unthreaded" the client goes on with whole conversations only if the error's
# `details` have the error_code thread_unsupported_request; any other 400, whatever it says, ends the call.
# Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @anthropic-ai/sdk@1.14.0
cat >run.js <<'JS'
import { createServer } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
const message = "thread: unknown field";
const refusals = {
  "ignores thread": undefined,
  "refuses thread": { type: "invalid_request_error", message, param: "thread" },
  "refuses with details": {
    type: "invalid_request_error",
    message,
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  },
};
for (const [name, error] of Object.entries(refusals)) {
  let replies = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { messages, thread } = JSON.parse(text);
    const isRefused = thread !== undefined && error !== undefined;
    console.log(`a server that ${name} is sent ${messages.length} message(s)`, isRefused ? "and refuses" : "and replies");
    const reply = {
      id: `msg_${++replies}`,
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Hi." }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isRefused ? { type: "error", error } : reply));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new Anthropic({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: "k" });
  const thread = client.beta.messages.thread({
    model: "m",
    max_tokens: 9,
    unsupportedRequestBehavior: "continue_unthreaded",
  });
  try {
    for (const content of ["Say hi.", "Once more."]) await thread.send({ role: "user", content });
  } catch (thrown) {
    console.log(thrown.constructor.name);
  }
  server.closeAllConnections();
  server.close();
}
JS
diff <(node run.js) - <<'OUTPUT'
a server that ignores thread is sent 1 message(s) and replies
a server that ignores thread is sent 1 message(s) and replies
a server that refuses thread is sent 1 message(s) and refuses
BadRequestError
a server that refuses with details is sent 1 message(s) and refuses
a server that refuses with details is sent 1 message(s) and replies
a server that refuses with details is sent 3 message(s) and replies
OUTPUT
echo "As described."
