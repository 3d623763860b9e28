// OpenAI's agent library with a real server: runs of several tool turns, over responses and over chat completions.
import {
  Agent,
  type AgentInputItem,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  tool,
  user,
} from "@openai/agents";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, type RealServer } from "../real-server.ts";
import { agentServer, cities, expectCachedPrompts, question, toolTurns, weatherText } from "./desk.ts";

let server: RealServer;
beforeAll(async () => {
  server = await agentServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const runner = new Runner({ tracingDisabled: true });

function openai(): OpenAI {
  return new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
}

describe.each([
  { name: "responses", model: () => new OpenAIResponsesModel(openai(), modelId) },
  { name: "chat completions", model: () => new OpenAIChatCompletionsModel(openai(), modelId) },
])("OpenAI's agents over $name", ({ model }) => {
  /** Calls its tool in each of its first turns, and then writes a text. */
  function agents(asked: string[]) {
    const weather = tool({
      name: "get_weather",
      description: "The weather of a city",
      parameters: z.object({ city: z.enum(cities) }),
      execute: async ({ city }) => {
        asked.push(city);
        return weatherText;
      },
    });
    const common = { name: "Weather", instructions: "Be brief.", model: model(), tools: [weather] };
    // Greedy: not every protocol has a seed.
    const settings = { temperature: 0, parallelToolCalls: false };
    const caller = new Agent({
      ...common,
      modelSettings: { ...settings, toolChoice: "required", maxTokens: 400 },
      resetToolChoice: false,
      toolUseBehavior: () =>
        asked.length < toolTurns
          ? { isFinalOutput: false, isInterrupted: undefined }
          : { isFinalOutput: true, isInterrupted: undefined, finalOutput: weatherText },
    });
    const writer = new Agent({
      ...common,
      // Random weights write a text where they need not call.
      modelSettings: { ...settings, toolChoice: "auto", maxTokens: 8 },
    });
    return { caller, writer };
  }

  function listUsage({ rawResponses }: { rawResponses: Awaited<ReturnType<Runner["run"]>>["rawResponses"] }) {
    return rawResponses.map(({ usage }) => ({
      prompt: usage.inputTokens,
      cached: usage.inputTokensDetails[0]?.["cached_tokens"] ?? 0,
    }));
  }

  it("take several tool turns, each of which finds the previous prompt cached", async () => {
    const asked: string[] = [];
    const { caller, writer } = agents(asked);
    const called = await runner.run(caller, question);
    expect(asked).toHaveLength(toolTurns);
    for (const city of asked) expect(cities).toContain(city);
    const written = await runner.run(writer, called.history);
    expect(written.finalOutput).not.toBe("");
    expectCachedPrompts([...listUsage(called), ...listUsage(written)]);
  });

  it("take the same turns streamed", async () => {
    const asked: string[] = [];
    const { caller, writer } = agents(asked);
    const whole: string[] = [];
    await runner.run(agents(whole).caller, question);
    const called = await runner.run(caller, question, { stream: true });
    const events: string[] = [];
    for await (const event of called) if (event.type === "run_item_stream_event") events.push(event.name);
    expect(asked).toEqual(whole);
    expect(events.filter((event) => event === "tool_called")).toHaveLength(toolTurns);
    const written = await runner.run(writer, called.history, { stream: true });
    let text = "";
    for await (const piece of written.toTextStream()) text += piece;
    expect(text).toBe(written.finalOutput);
    expectCachedPrompts([...listUsage(called), ...listUsage(written)]);
  });

  it("send a reply that was cut back, and continue", async () => {
    const { writer } = agents([]);
    const cut = await runner.run(writer, question);
    expect(cut.rawResponses[0]?.usage.outputTokens).toBe(8);
    const next: AgentInputItem[] = [...cut.history, user("And now?")];
    const continued = await runner.run(writer, next);
    expect(continued.finalOutput).not.toBe("");
  });

  it("are cancelled", async () => {
    const controller = new AbortController();
    const endless = new Agent({ name: "Endless", model: model(), modelSettings: { temperature: 0 } });
    const running = await runner.run(endless, question, { stream: true, signal: controller.signal });
    await expect.poll(() => server.model.stats().running).toBe(1);
    controller.abort();
    await running.completed.catch(() => {});
    expect(running.cancelled).toBe(true);
    await expect.poll(() => server.model.stats().running).toBe(0);
  });

  it("return structured output", async () => {
    const Forecast = z.object({ city: z.enum(cities), isSunny: z.boolean() });
    const agent = new Agent({
      name: "Forecast",
      model: model(),
      outputType: Forecast,
      modelSettings: { temperature: 0 },
    });
    const { finalOutput } = await runner.run(agent, question);
    expect(Forecast.parse(finalOutput)).toEqual(finalOutput);
  });
});
