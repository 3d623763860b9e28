#!/usr/bin/env bash
# @openai/agents 0.20.0 with a model of chat completions sends fields of its own in the text parts of a history. If a message has
# text and tool calls, and was not streamed, the whole message but its text is copied into the part: its role, its tool calls and
# even its reasoning, by which the prompt grows for a server that counts the request. Streamed, the part has `annotations`. OpenAI's API
# defines neither, so a server that refuses unknown fields ends the run after the first tool.
# Seen on 2026-11-28 with Node 20, openai 6.49.0 and zod 4.6.7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @openai/agents@0.20.0 openai@6.49.0 zod@4.6.7
cat >run.js <<'JS'
import { createServer } from "node:http";
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
setTracingDisabled(true);
const calls = [{ index: 0, id: "1", type: "function", function: { name: "clock", arguments: "{}" } }];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { messages, stream } = JSON.parse(text);
  const isFirst = messages.length === 1;
  if (!isFirst) console.log(stream ? "streamed:" : "whole:", JSON.stringify(messages[1].content));
  const message = { role: "assistant", content: "I look.", ...(isFirst && { reasoning_content: "What time?", tool_calls: calls }) };
  const head = { id: "1", created: 1, model: "m" };
  const choice = { index: 0, finish_reason: isFirst ? "tool_calls" : "stop" };
  response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
  if (stream) {
    const chunk = { ...head, object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  } else response.end(JSON.stringify({ ...head, object: "chat.completion", choices: [{ ...choice, message }] }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const client = new OpenAI({ baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: "k" });
const clock = tool({ name: "clock", description: "Time.", parameters: z.object({}), execute: () => "12:00" });
const agent = new Agent({ name: "a", model: new OpenAIChatCompletionsModel(client, "m"), tools: [clock] });
await run(agent, "Time?");
await (await run(agent, "Time?", { stream: true })).completed;
server.closeAllConnections();
server.close();
JS
diff <(node run.js) - <<'OUTPUT'
whole: [{"type":"text","text":"I look.","role":"assistant","reasoning_content":"What time?","tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"clock","arguments":"{}"}}]}]
streamed: [{"type":"text","text":"I look.","annotations":[]}]
OUTPUT
echo "As described."
