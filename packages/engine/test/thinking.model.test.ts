// Thoughts that end: after exactly so many tokens, alone and in a batch, with drafts, forms and calls, or when somebody asks for it.
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { GenerationRequest, GenerationResult, LoadedModel, LoadOptions, Model } from "@ingle/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact, within } from "./tiny.ts";

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");

/** A model whose prompts end with `<think>`. */
async function loadThinker(options: LoadOptions = {}, template = "Qwen-QwQ-32B"): Promise<LoadedModel> {
  const chatTemplate = await readFile(path.join(templates, `${template}.jinja`), "utf8");
  return await loadExact(
    { contextLength: 8_192, parallel: 4, ...options },
    { chatTemplate, contextLength: 8_192 },
  );
}

type ChatFields = Omit<Extract<GenerationRequest, { messages: unknown }>, "messages">;

const ask = (more: ChatFields = {}, content = "Is water wet?"): GenerationRequest => ({
  messages: [{ role: "user", content }],
  temperature: 0,
  maxTokens: 120,
  ignoreEos: true,
  ...more,
});

let loaded: LoadedModel;
let model: Model;
/** Tokens of `</think>`. */
let mark = 0;
beforeAll(async () => {
  loaded = await loadThinker();
  ({ model } = loaded);
  mark = (await model.tokenizer.encode("</think>", { addSpecial: false, parseSpecial: true })).length;
});
afterAll(() => loaded[Symbol.asyncDispose]());

/** Tokens of the thought without the mark after it. */
const thought = ({ usage }: GenerationResult): number => usage.reasoningTokens - mark;

describe("a thought", () => {
  it("takes the whole reply without a limit, and with one exactly so many tokens", async () => {
    const free = await model.generate(ask());
    expect([free.text, free.usage.reasoningTokens]).toEqual(["", 120]);
    for (const thinkingTokens of [0, 1, 7, 40]) {
      const result = await model.generate(ask({ thinkingTokens }));
      expect([thinkingTokens, thought(result), result.usage.completionTokens]).toEqual([
        thinkingTokens,
        thinkingTokens,
        120,
      ]);
      expect(free.reasoning.startsWith(result.reasoning.slice(0, -1))).toBe(true);
      expect(result.text.length).toBeGreaterThan(0);
      expect(result.reasoning + result.text).not.toContain("</think>");
    }
    const unlimited = await model.generate(ask({ thinkingTokens: -1 }));
    expect(unlimited.reasoning).toBe(free.reasoning);
  });

  it("may take a share of the reply, and ends with a sentence", async () => {
    const result = await model.generate(ask({ thinkingShare: 0.25, thinkingEnd: " That is enough." }));
    const sentence = await model.tokenizer.encode(" That is enough.", { addSpecial: false });
    expect(thought(result)).toBe(30 + sentence.length);
    expect(result.reasoning.trimEnd()).toMatch(/That is enough\.$/);
  });

  it("of many requests at once is each one's own, at any temperature", async () => {
    const requests = Array.from({ length: 16 }, (_, seed) =>
      ask({ seed, temperature: seed % 2, thinkingTokens: seed * 3 }, `Question ${seed}`),
    );
    const alone: GenerationResult[] = [];
    for (const request of requests) alone.push(await model.generate(request));
    const together = await Promise.all(requests.map(async (request) => await model.generate(request)));
    expect(together.map(thought)).toEqual(requests.map((_, seed) => seed * 3));
    expect(together.map(({ text }) => text)).toEqual(alone.map(({ text }) => text));
  });

  it("is the same with drafts", async () => {
    await using drafting = await loadThinker({ speculation: "ngram" });
    const said = "The lantern is lit. The lantern is lit. The lantern is lit.";
    const request = ask({ thinkingTokens: 25, prediction: said, repeatPenalty: 1 }, said);
    const results = [await model.generate(request), await drafting.model.generate(request)];
    for (let time = 0; time < 2; time += 1) results.push(await drafting.model.generate(request));
    const [plain] = results;
    expect(results.map(({ text, reasoning }) => [reasoning, text])).toEqual(
      results.map(() => [plain?.reasoning, plain?.text]),
    );
    expect(results.map(thought)).toEqual([25, 25, 25, 25]);
  });

  it("comes before an answer of a given form, which is whole", async () => {
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", schema } as const;
    for (const seed of [1, 2, 3]) {
      const result = await model.generate(
        ask({
          thinkingTokens: 12,
          responseFormat: format,
          ignoreEos: false,
          seed,
          temperature: 1,
          maxTokens: 400,
        }),
      );
      expect(thought(result)).toBeLessThanOrEqual(12);
      expect(JSON.parse(result.text)).toEqual({ ok: expect.any(Boolean) });
    }
  });

  it("comes before calls that must be made", async () => {
    const tools = [
      {
        name: "look",
        parameters: { type: "object", properties: { at: { enum: ["sky", "sea"] } }, required: ["at"] },
      },
    ];
    const result = await model.generate(
      ask({ thinkingTokens: 10, tools, toolChoice: "required", ignoreEos: false, maxTokens: 400 }),
    );
    expect(result.toolCalls[0]?.name).toBe("look");
    expect(thought(result)).toBeLessThanOrEqual(10);
  });

  it("ends when somebody asks for the answer", async () => {
    const running = model.generate(ask({ maxTokens: 4_000 }));
    expect(running.endThinking()).toBe(false); // the engine does not have it yet
    await within(30_000, running[Symbol.asyncIterator]().next());
    expect(running.endThinking()).toBe(true);
    const result = await running;
    expect(result.usage.reasoningTokens).toBeLessThan(4_000);
    expect(result.text.length).toBeGreaterThan(0);
    expect(running.endThinking()).toBe(false);
  });

  it("of a model in a process of its own ends as well", async () => {
    await using other = await loadThinker({ engine: "process" });
    const limited = await other.model.generate(ask({ thinkingTokens: 9 }));
    expect(thought(limited)).toBe(9);
    const running = other.model.generate(ask({ maxTokens: 4_000 }));
    await within(30_000, running[Symbol.asyncIterator]().next());
    expect(running.endThinking()).toBe(true);
    expect((await running).text.length).toBeGreaterThan(0);
  });

  it("is not there where the chat asks for none", async () => {
    await using switching = await loadThinker({}, "Qwen-Qwen3-0.6B");
    const result = await switching.model.generate(ask({ thinking: false, thinkingTokens: 5 }));
    expect([result.reasoning, result.usage.reasoningTokens, result.usage.completionTokens]).toEqual([
      "",
      0,
      120,
    ]);
  });

  it("whose end nobody knows cannot be limited, which is an error and not silence", async () => {
    await using unknown = await loadThinker({}, "muse-glimmer");
    await expect(unknown.model.generate(ask({ thinkingTokens: 5 }))).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "thinkingTokens" },
    });
    for (const more of [{}, { thinkingTokens: -1 }, { thinkingShare: 0.5 }])
      expect((await unknown.model.generate(ask({ maxTokens: 5, ...more }))).usage.completionTokens).toBe(5);
  });
});
