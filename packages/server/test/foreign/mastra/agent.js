// An agent of Mastra, for mastra.packages.test.ts. Its argument is what the test's desk has and what to do.
// No TypeScript project contains this file, so this line tells the linter that it runs in Node.
/// <reference types="node" />
import { once } from "node:events";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const { baseUrl, modelId, api, question, cities, weatherText, toolTurns, task } = JSON.parse(process.argv[2]);

const weather = createTool({
  id: "get_weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.enum(cities) }),
  execute: async () => weatherText,
});
const agent = new Agent({
  id: "weather",
  name: "Weather",
  instructions: "Be brief.",
  model: { providerId: "ingle", modelId, url: baseUrl, apiKey: "anything", api },
  tools: { get_weather: weather },
  maxRetries: 0,
});
const modelSettings = { temperature: 0, maxOutputTokens: 120, maxRetries: 0 };
/** Calls its tool in each of its first turns, and then writes a text. */
const turns = {
  maxSteps: toolTurns + 1,
  // Random weights write a text where they need not call.
  prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber < toolTurns ? "required" : "auto" }),
  modelSettings,
  providerOptions: {
    // Unless told, it refers to earlier replies over responses, as if the server had stored them.
    openai: { parallelToolCalls: false, store: false },
    ingle: { parallel_tool_calls: false },
  },
};

async function takeTurns() {
  const { steps, text } = await agent.generate(question, turns);
  const streamed = await agent.stream(question, turns);
  let pieces = "";
  for await (const piece of streamed.textStream) pieces += piece;
  return {
    text,
    streamed: pieces,
    steps: steps.map(({ finishReason, toolResults, usage }) => ({
      finishReason,
      results: toolResults.map(({ payload }) => payload.result),
      prompt: usage.inputTokens,
      cached: usage.cachedInputTokens,
    })),
  };
}

/** Cancels when a line arrives, and lives on until its input ends: its own end would cancel the request as well. */
async function cancel() {
  const controller = new AbortController();
  process.stdin.once("data", () => controller.abort());
  const ended = once(process.stdin, "end");
  const { textStream } = await agent.stream(question, {
    toolChoice: "none",
    modelSettings: { ...modelSettings, maxOutputTokens: 3000 },
    abortSignal: controller.signal,
  });
  for await (const _piece of textStream);
  await ended;
  return { isCancelled: controller.signal.aborted };
}

process.stdout.write(JSON.stringify(await (task === "cancel" ? cancel() : takeTurns())));
