#!/usr/bin/env bash
# extractReasoningMiddleware() of ai 6.0.326 takes the text between tags of a completion for its reasoning, but not in the same way for
# generateText() as for streamText(). A completion that ends within its reasoning, as one does that reaches its token limit, is all text
# for the former and all reasoning for the latter. With startWithReasoning, for templates whose prompt opens the tag, generateText()
# returns such thoughts as the reply's text, without a tag by which a caller could tell. And a model that skips its reasoning has its
# reply taken for reasoning by streamText(): the reply is empty. Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts ai@6.0.326 zod@4.6.7
cat >run.js <<'JS'
import { extractReasoningMiddleware, generateText, simulateReadableStream, streamText, wrapLanguageModel } from "ai";
const usage = { inputTokens: {}, outputTokens: {} };
function model(text, unified, startWithReasoning) {
  const end = { finishReason: { unified, raw: unified }, usage };
  const chunks = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta })),
    { type: "text-end", id: "1" },
    { type: "finish", ...end },
  ];
  return wrapLanguageModel({
    middleware: extractReasoningMiddleware({ tagName: "think", startWithReasoning }),
    model: {
      specificationVersion: "v3",
      provider: "p",
      modelId: "m",
      supportedUrls: {},
      doGenerate: async () => ({ content: [{ type: "text", text }], warnings: [], ...end }),
      doStream: async () => ({ stream: simulateReadableStream({ chunks, chunkDelayInMs: null, initialDelayInMs: null }) }),
    },
  });
}
for (const [name, ...rest] of [
  ["whole", "<think>Two and two.</think>Four.", "stop", false],
  ["cut", "<think>Two and two.", "length", false],
  ["whole, tag in the prompt", "Two and two.</think>Four.", "stop", true],
  ["cut, tag in the prompt", "Two and two.", "length", true],
  ["no reasoning, tag in the prompt", "Four.", "stop", true],
]) {
  const generated = await generateText({ model: model(...rest), prompt: "2 + 2?" });
  const streamed = streamText({ model: model(...rest), prompt: "2 + 2?" });
  for (const [call, result] of Object.entries({ generateText: generated, streamText: streamed }))
    console.log(`${name}: ${call}`, JSON.stringify({ reasoning: (await result.reasoningText) ?? "", text: await result.text }));
}
JS
diff <(node run.js) - <<'OUTPUT'
whole: generateText {"reasoning":"Two and two.","text":"Four."}
whole: streamText {"reasoning":"Two and two.","text":"Four."}
cut: generateText {"reasoning":"","text":"<think>Two and two."}
cut: streamText {"reasoning":"Two and two.","text":""}
whole, tag in the prompt: generateText {"reasoning":"Two and two.","text":"Four."}
whole, tag in the prompt: streamText {"reasoning":"Two and two.","text":"Four."}
cut, tag in the prompt: generateText {"reasoning":"","text":"Two and two."}
cut, tag in the prompt: streamText {"reasoning":"Two and two.","text":""}
no reasoning, tag in the prompt: generateText {"reasoning":"","text":"Four."}
no reasoning, tag in the prompt: streamText {"reasoning":"Four.","text":""}
OUTPUT
echo "As described."
