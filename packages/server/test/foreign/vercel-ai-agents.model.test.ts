// The agents of the Vercel AI SDK with a real server: loops of several tool turns, over chat completions and over responses.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type LanguageModelUsage, type ModelMessage, stepCountIs, tool, ToolLoopAgent } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, type RealServer } from "../real-server.ts";
import { agentServer, cities, expectCachedPrompts, question, toolTurns, weatherText } from "./desk.ts";

let server: RealServer;
beforeAll(async () => {
  server = await agentServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.enum(cities) }),
  execute: async () => weatherText,
});

function listUsage(steps: readonly { usage: LanguageModelUsage }[]) {
  return steps.map(({ usage }) => ({
    prompt: usage.inputTokens ?? 0,
    cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
  }));
}

describe.each([
  {
    name: "openai-compatible",
    model: () =>
      createOpenAICompatible({ name: "ingle", baseURL: server.baseUrl, includeUsage: true }).chatModel(
        modelId,
      ),
  },
  {
    name: "openai, chat completions",
    model: () => createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" }).chat(modelId),
  },
  {
    name: "openai, responses",
    model: () => createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" }).responses(modelId),
  },
])("an agent of the Vercel AI SDK, $name", ({ model }) => {
  /** Calls its tool in each of its first turns, and then writes a text. */
  function agent() {
    return new ToolLoopAgent({
      model: model(),
      instructions: "Be brief.",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(toolTurns + 1),
      // Random weights write a text where they need not call.
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber < toolTurns ? "required" : "auto" }),
      // Unless told, it refers to earlier replies over responses, as if the server had stored them.
      providerOptions: {
        openai: { parallelToolCalls: false, store: false },
        ingle: { parallel_tool_calls: false },
      },
      temperature: 0,
      maxOutputTokens: 120,
      maxRetries: 0,
    });
  }

  it("takes several tool turns, each of which finds the previous prompt cached", async () => {
    const { steps, text } = await agent().generate({ prompt: question });
    expect(steps.map(({ finishReason }) => finishReason)).toEqual([
      ...Array.from({ length: toolTurns }, () => "tool-calls"),
      "length",
    ]);
    for (const { toolResults } of steps.slice(0, -1)) expect(toolResults[0]?.output).toBe(weatherText);
    expect(text).not.toBe("");
    expectCachedPrompts(listUsage(steps));
  });

  it("takes the same turns streamed, and continues after a reply that was cut", async () => {
    const whole = await agent().generate({ prompt: question });
    const streamed = await agent().stream({ prompt: question });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    expect(text).toBe(whole.steps.map((step) => step.text).join(""));
    const steps = await streamed.steps;
    const messages: ModelMessage[] = [
      { role: "user", content: question },
      ...(await streamed.response).messages,
      { role: "user", content: "And now?" },
    ];
    const next = await agent().generate({ messages });
    expect(next.text).not.toBe("");
    expectCachedPrompts(listUsage([...steps, ...next.steps]));
  });

  it("is cancelled", async () => {
    const controller = new AbortController();
    const ended = new ToolLoopAgent({ model: model(), temperature: 0 }).generate({
      prompt: question,
      abortSignal: controller.signal,
    });
    const failed = expect(ended).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => server.model.stats().running).toBe(1);
    controller.abort();
    await failed;
    await expect.poll(() => server.model.stats().running).toBe(0);
  });
});
