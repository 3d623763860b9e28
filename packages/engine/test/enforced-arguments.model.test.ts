// Calls that a model may make, in the syntax of chat templates that come with llama.cpp: their arguments are valid for their tools, in
// the opinion of an independent validator, and the prompt has the tools' schemas as they were given.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { load, type GenerationRequest, type LoadedModel } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { afterEach, describe, expect, it } from "vitest";
import { createValidator } from "./judge/validators.ts";

const folder = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");
const contextLength = 8192;

let loaded: LoadedModel | undefined;
afterEach(async () => {
  await loaded?.[Symbol.asyncDispose]();
  loaded = undefined;
});

async function loadTemplate(template: string): Promise<LoadedModel["model"]> {
  const chatTemplate = await readFile(path.join(folder, `${template}.jinja`), "utf8");
  const file = await tinyModel({ chatTemplate, contextLength });
  loaded = await load(file, { threads: 1, contextLength, parallel: 4 });
  return loaded.model;
}

const object = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

/** Keywords whose combination llama.cpp's converter takes in part. */
const schemas: Record<string, Record<string, unknown>> = {
  "two ranges": object({ n: { type: "integer", allOf: [{ minimum: 10 }, { maximum: 12 }] } }),
  "a length beside a reference": {
    ...object({ name: { $ref: "#/$defs/name", minLength: 4 } }),
    $defs: { name: { type: "string", maxLength: 6 } },
  },
  "a bound beside an enum": object({ n: { enum: [1, 5, 20, 30], minimum: 10 } }),
  "a pattern beside an enum": object({ word: { enum: ["one", "two", "three"], pattern: "^t" } }),
  "a required property that is not listed": object(
    { a: { type: "boolean" } },
    { required: ["a", "x"], additionalProperties: { type: "integer" } },
  ),
  "a pattern beside a format": object({ id: { type: "string", pattern: "^[0-7]{8}-", format: "uuid" } }),
  "a pattern beside a length": object({
    id: { type: "string", pattern: "^[a-c]*d?$", minLength: 3, maxLength: 5 },
  }),
  "properties in allOf": {
    type: "object",
    allOf: [
      { properties: { a: { type: "integer", minimum: 3, maximum: 9 } }, required: ["a"] },
      { properties: { a: { maximum: 5 }, b: { enum: ["x", "y", 1] } }, required: ["b"] },
    ],
  },
  "a string or nothing": object({ word: { type: ["string", "null"], pattern: "^[nul]{2,5}$" } }),
  "anyOf beside oneOf": object({
    n: { type: "integer", anyOf: [{ minimum: 5 }], oneOf: [{ maximum: 7 }, { minimum: 100, maximum: 101 }] },
  }),
  "a list of a tuple and more": object({
    list: {
      type: "array",
      prefixItems: [{ type: "integer", minimum: 0, maximum: 3 }],
      items: { type: "string", minLength: 2, maxLength: 3 },
      minItems: 2,
      maxItems: 3,
    },
  }),
  "an object with bounds that exclude zero": object({
    inner: object({ n: { type: "number", minimum: -0.5, exclusiveMaximum: 0 } }),
  }),
};

/** Those with JSON for arguments, and those that write each argument by itself. Their syntax also holds a format. */
const templates = [
  "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
  "meta-llama-Llama-3.1-8B-Instruct",
  "mistralai-Mistral-Nemo-Instruct-2407",
  "Qwen-Qwen3-0.6B",
  "Qwen3-Coder",
  "GLM-4.6",
  "deepseek-ai-DeepSeek-V3.2",
];

/** The tokens that begin a reply in the format, which a model of random weights would otherwise prefer. */
async function tokensOfFormat(model: LoadedModel["model"]): Promise<[number, number][]> {
  const begins = /^\s*(?:`+|f(?:a(?:l(?:se?)?)?)?|)(?:json)?\s*$/;
  const ids = Array.from({ length: model.info.vocabularySize }, (_, id) => id);
  const texts = await Promise.all(ids.map((id) => model.tokenizer.decode([id])));
  return ids.filter((id) => texts[id] !== "" && begins.test(texts[id] ?? "")).map((id) => [id, -50]);
}

/** A reply is a call, or else it has the format. */
function asked(
  parameters: Record<string, unknown>,
  seed: number,
  unlikely: [number, number][],
): GenerationRequest {
  return {
    messages: [{ role: "user", content: "Which one?" }],
    tools: [{ name: "choose", description: "Chooses one", parameters }],
    responseFormat: { type: "json_schema", schema: { const: false }, strict: true },
    logitBias: unlikely,
    thinking: false,
    maxTokens: 400,
    parallelToolCalls: false,
    seed,
  };
}

describe.each(templates)("calls that may be made, with the template %s", (template) => {
  it("have arguments that are valid for their tools", { timeout: 300_000 }, async () => {
    const model = await loadTemplate(template);
    expect(model.info.chatTemplate.holdsFormOrCalls).toBe(true);
    const invalid: unknown[] = [];
    const called = new Set<string>();
    const unlikely = await tokensOfFormat(model);
    for (const [name, schema] of Object.entries(schemas)) {
      const validator = createValidator(schema);
      if (typeof validator === "string") throw new Error(validator);
      const asks = [1, 2, 3, 4, 5, 6].map((seed) => asked(schema, seed, unlikely));
      const results = await Promise.all(asks.map((ask) => model.generate(ask)));
      for (const { toolCalls, finishReason } of results) {
        if (finishReason !== "tool_calls") continue;
        for (const call of toolCalls) {
          called.add(name);
          const problem = validator.findProblem(JSON.parse(call.arguments));
          if (problem !== undefined) invalid.push({ name, arguments: call.arguments, problem });
        }
      }
    }
    expect(invalid).toEqual([]);
    expect([...called]).toEqual(Object.keys(schemas));
  });
});

const bounded = {
  type: "object",
  properties: {
    code: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$", description: "An order" },
    amount: { type: "integer", maximum: 9_007_199_254_740_991 },
    // A long integer keeps its digits, as in calls.
    weight: { type: "integer", maximum: 100_000_000_000_000_000_000 },
  },
  required: ["code"],
};

it.each([
  "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
  "meta-llama-Llama-3.1-8B-Instruct",
  "mistralai-Mistral-Nemo-Instruct-2407",
  "Qwen-Qwen3-0.6B",
  "Qwen3.5-4B",
  "GLM-4.6",
  "MiniMax-M2",
  "Kimi-K2-Instruct",
  "deepseek-ai-DeepSeek-V3.2",
  "LFM2.5-8B-A1B",
])("the prompt has a parameter's pattern and large bounds, with the template %s", async (template) => {
  const model = await loadTemplate(template);
  const tools = [{ name: "find", description: "Finds an order", parameters: bounded }];
  const prompt = await model.promptText({ messages: [{ role: "user", content: "Hi" }], tools });
  expect(prompt).toContain("^[A-Z]{3}-[0-9]{4}$");
  expect(prompt).toContain("9007199254740991");
  expect(prompt).toContain("100000000000000000000");
});

/** Processor time, so a busy machine does not count; several times what it took. */
const cpuMsMax = 5_000;

it.each(["NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "Qwen3-Coder", "GLM-4.6", "MiniMax-M3"])(
  "a tool may have 2,000 optional parameters, with the template %s",
  { timeout: 120_000 },
  async (template) => {
    const model = await loadTemplate(template);
    const properties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [
        `p${index}`,
        { type: index % 2 === 0 ? "string" : "integer" },
      ]),
    );
    const tools = [{ name: "set", description: "", parameters: { type: "object", properties } }];
    const before = process.cpuUsage();
    const prompt = await model.promptText({ messages: [{ role: "user", content: "Hi" }], tools });
    const { user, system } = process.cpuUsage(before);
    expect(prompt).toContain("p1999");
    expect((user + system) / 1_000).toBeLessThan(cpuMsMax);
  },
);
