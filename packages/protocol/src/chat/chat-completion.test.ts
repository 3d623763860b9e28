import { generationOptions } from "@ingle/generation-options";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  type ChatCompletionBody,
} from "./chat-completion.ts";
import { findIgnoredFields, ignoredLimits, ignoredService } from "../fields/ignored-fields.ts";
import { topLogprobsMax } from "../fields/logprobs.ts";
import { firstIssue } from "../request-issue.ts";
import { choicesMax, modelLengthMax, userLengthMax } from "../fields/request-fields.ts";
import { grammarLengthMax } from "../fields/structured-outputs.ts";
import { templateKwargsMax } from "../fields/template-fields.ts";
import { toolsMax } from "../fields/tools.ts";

const { max: repeatLastNMax } = generationOptions.repeatLastN;
const { max: stopsMax, lengthMax: stopLengthMax } = generationOptions.stop;

const minimal = { model: "tiny", messages: [{ role: "user", content: "Hello" }] };

const tool = fc.constantFrom(
  { type: "function", function: { name: "f" } },
  {
    type: "function",
    function: {
      name: "g.h-i_2",
      description: "Does it.",
      parameters: { type: "object", properties: {} },
      strict: true,
    },
  },
);
type ToolChoice = NonNullable<ChatCompletionBody["tool_choice"]>;
const named = (name: string): Extract<ToolChoice, { type: "function" }> => ({
  type: "function",
  function: { name },
});

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const stopString = fc.string({ maxLength: 20 });

/** Values that pass, by field; every optional field of the request is here. */
const thinkingLimit = fc.integer({ min: -1, max: 0x7fff_ffff });

const good = {
  n_probs: fc.integer({ min: 0, max: 20 }),
  return_progress: fc.boolean(),
  return_tokens: fc.boolean(),
  structured_outputs: fc.constantFrom({ choice: ["a", "b"] }, { regex: "a+" }, { json_object: true }),
  temperature: number(0, 1e9),
  top_p: number(0, 1),
  top_k: fc.integer({ min: -1, max: 1_000_000 }),
  min_p: number(0, 1),
  repeat_penalty: number(1e-30, 100),
  repetition_penalty: number(1e-30, 100),
  repeat_last_n: fc.integer({ min: 0, max: repeatLastNMax }),
  typical_p: fc.double({ min: 0, max: 1, noNaN: true }),
  top_n_sigma: fc.double({ min: -1, max: 100, noNaN: true }),
  xtc_probability: fc.double({ min: 0, max: 1, noNaN: true }),
  xtc_threshold: fc.double({ min: 0, max: 1, noNaN: true }),
  dynatemp_range: fc.double({ min: 0, max: 5, noNaN: true }),
  dynatemp_exponent: fc.double({ min: 0, max: 5, noNaN: true }),
  dry_multiplier: fc.double({ min: 0, max: 5, noNaN: true }),
  dry_base: fc.double({ min: 1, max: 5, noNaN: true }),
  dry_allowed_length: fc.integer({ min: 0, max: repeatLastNMax }),
  dry_penalty_last_n: fc.integer({ min: -1, max: repeatLastNMax }),
  dry_sequence_breakers: fc.array(fc.string({ minLength: 1, maxLength: 64 }), { maxLength: 32 }),
  mirostat: fc.constantFrom(0, 1, 2),
  mirostat_tau: fc.double({ min: 0, max: 10, noNaN: true }),
  mirostat_eta: fc.double({ min: 0, max: 1, noNaN: true }),
  adaptive_target: fc.constant(-1),
  adaptive_decay: fc.double({ min: 0, max: 0.99, noNaN: true }),
  samplers: fc.constantFrom([], ["top_k"], ["temperature", "dry"]),
  min_tokens: fc.nat(),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  max_tokens: fc.oneof(fc.constant(-1), fc.integer({ min: 1 })),
  max_completion_tokens: fc.oneof(fc.constant(-1), fc.integer({ min: 1 })),
  stop: fc.oneof(stopString, fc.array(stopString, { maxLength: stopsMax })),
  seed: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 63, -(2 ** 63), 2 ** 64)),
  logit_bias: fc.dictionary(fc.nat(999_999_999).map(String), number(-100, 100), { maxKeys: 20 }),
  n: fc.integer({ min: 1, max: choicesMax }),
  logprobs: fc.constant(true),
  top_logprobs: fc.integer({ min: 0, max: topLogprobsMax }),
  response_format: fc.constantFrom(
    { type: "text" },
    { type: "json_object" },
    { type: "json_object", schema: { type: "object" } },
    { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: true } },
  ),
  grammar: fc.constantFrom("", 'root ::= "a"'),
  json_schema: fc.constant({ type: "array" }),
  tools: fc.array(tool, { maxLength: 2 }),
  tool_choice: fc.constantFrom<ToolChoice>("auto", "none", "required", named("f"), {
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: [named("f")] },
  }),
  parallel_tool_calls: fc.boolean(),
  reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max"),
  thinking_budget_tokens: thinkingLimit,
  reasoning_budget_tokens: thinkingLimit,
  reasoning_budget: thinkingLimit,
  thinking_budget: thinkingLimit,
  thinking_token_budget: thinkingLimit,
  reasoning_budget_message: fc.string({ maxLength: 1_024 }),
  reasoning: fc.record(
    { effort: fc.constantFrom("none", "high"), max_tokens: thinkingLimit },
    { requiredKeys: [] },
  ),
  chat_template_kwargs: fc.constantFrom(
    {},
    {
      enable_thinking: false,
      budget: 5,
      style: "brief",
      list: ["a", 1, true],
    },
  ),
  continue_final_message: fc.constant(false),
  stream: fc.boolean(),
  stream_options: fc.record({ include_usage: fc.boolean() }),
  cache_prompt: fc.boolean(),
  cache_salt: fc.string({ minLength: 1, maxLength: 256 }),
  lora: fc.array(fc.record({ id: fc.integer({ min: 0, max: 31 }), scale: number(-100, 100) }), {
    maxLength: 32,
  }),
  id_slot: fc.integer({ min: -1, max: 1000 }),
  timings_per_token: fc.boolean(),
  ignore_eos: fc.boolean(),
  user: fc.string({ maxLength: userLengthMax }),
  safety_identifier: fc.string({ maxLength: userLengthMax }),
  prompt_cache_key: fc.string({ maxLength: userLengthMax }),
  prediction: fc.record({
    type: fc.constant("content"),
    content: fc.oneof(fc.string(), fc.constant([{ type: "text", text: "a" }])),
  }),
  model: fc.string({ maxLength: modelLengthMax }),
  modalities: fc.constantFrom([], ["text"]),
};

const optionalFields = Object.keys(ChatCompletionRequest.shape).filter((field) => field !== "messages");
/** What no reply can follow: any value of it is refused. */
const refusedFields = ["audio", "chat_template", "function_call", "functions"];
/** What is accepted with any value. */
const anyField = { ...ignoredLimits, ...ignoredService };
const ignoredFields = [...Object.keys(anyField), "store", "metadata", "verbosity", "web_search_options"];

/** The fields that a parse complains about. */
function listProblems(body: unknown): string[] {
  const issues = ChatCompletionRequest.safeParse(body).error?.issues ?? [];
  return issues.map((issue) => String(issue.path[0]));
}

test("the values that this test calls good cover every optional field", () => {
  const covered = [...Object.keys(good), ...refusedFields, ...ignoredFields];
  expect(covered.toSorted()).toEqual(optionalFields.toSorted());
});

type Fields = {
  [Field in keyof typeof good]?: (typeof good)[Field] extends fc.Arbitrary<infer T> ? T : never;
};

/** Whether no two of grammar, schemas and tools exclude each other. */
function isOfOneForm({
  grammar = "",
  response_format: format,
  json_schema,
  structured_outputs,
  tools = [],
  tool_choice,
}: Fields) {
  if (structured_outputs !== undefined)
    return grammar === "" && json_schema === undefined && (format?.type ?? "text") === "text";
  const schemas = [json_schema, format?.schema, format?.json_schema].filter((each) => each !== undefined);
  if (grammar === "") return schemas.length < 2;
  return schemas.length === 0 && format === undefined && (tools.length === 0 || tool_choice === "none");
}

function hasItsTools({ tools = [], tool_choice: choice = "auto" }: Fields): boolean {
  if (typeof choice !== "string") return tools.some((each) => each.function.name === "f");
  return choice !== "required" || tools.length > 0;
}

test("any request made of values within the rules passes and keeps its values", () => {
  const request = fc
    .record(good, { requiredKeys: [] })
    .filter((fields) => fields.repeat_penalty === undefined || fields.repetition_penalty === undefined)
    .filter((fields) => fields.top_logprobs === undefined || fields.logprobs === true)
    .filter((fields) => isOfOneForm(fields) && hasItsTools(fields));
  fc.assert(
    fc.property(request, (fields) => {
      expect(ChatCompletionRequest.parse({ ...minimal, ...fields })).toEqual({ ...minimal, ...fields });
    }),
  );
});

test.each(optionalFields)("null for %s means the same as leaving it out", (field) => {
  const { [field]: _left, ...without } = minimal as Record<string, unknown>;
  const parsed: Record<string, unknown> = ChatCompletionRequest.parse({ ...without, [field]: null });
  expect(parsed[field]).toBeUndefined();
  expect(parsed).toEqual(ChatCompletionRequest.parse(without));
});

const bad: [field: string, value: unknown][] = [
  ["model", 5],
  ["model", "x".repeat(modelLengthMax + 1)],
  ["messages", undefined],
  ["messages", []],
  ["messages", "Hello"],
  ["temperature", -0.1],
  ["temperature", "0.5"],
  ["temperature", Number.POSITIVE_INFINITY],
  ["top_p", 1.01],
  ["top_p", -1],
  ["top_k", -2],
  ["top_k", 1.5],
  ["min_p", -0.01],
  ["min_p", 1.01],
  ["repeat_penalty", 0],
  ["repeat_penalty", 5e-324],
  ["repeat_penalty", -1],
  ["repetition_penalty", 0],
  ["repetition_penalty", true],
  ["repeat_last_n", -1],
  ["repeat_last_n", repeatLastNMax + 1],
  ["typical_p", 1.1],
  ["top_n_sigma", -2],
  ["xtc_probability", 2],
  ["xtc_threshold", "0.1"],
  ["dynatemp_range", -1],
  ["dynatemp_exponent", -1],
  ["dry_multiplier", -1],
  ["dry_base", 0.9],
  ["dry_allowed_length", -1],
  ["dry_penalty_last_n", repeatLastNMax + 1],
  ["dry_sequence_breakers", [""]],
  ["dry_sequence_breakers", Array.from({ length: 33 }, () => "x")],
  ["mirostat", 3],
  ["mirostat_tau", -1],
  ["mirostat_eta", "fast"],
  ["adaptive_target", 1.5],
  ["adaptive_decay", 1],
  ["samplers", ["no_such"]],
  ["samplers", ["top_k", "top-k"]],
  ["samplers", "kk"],
  ["samplers", "kz"],
  ["min_tokens", -1],
  ["presence_penalty", 2.1],
  ["presence_penalty", -2.1],
  ["frequency_penalty", 2.1],
  ["frequency_penalty", "1"],
  ["max_tokens", 0],
  ["max_tokens", -2],
  ["max_tokens", 1.5],
  ["max_completion_tokens", 0],
  ["max_completion_tokens", "9"],
  ["stop", 1],
  ["stop", Array.from({ length: stopsMax + 1 }, () => "a")],
  ["stop", "x".repeat(stopLengthMax + 1)],
  ["seed", 0.5],
  ["seed", "1"],
  ["seed", 1e20],
  ["logit_bias", { cat: 1 }],
  ["logit_bias", { "1": 101 }],
  ["logit_bias", { "1": null }],
  ["logit_bias", [[1, 101]]],
  ["logit_bias", [["", 1]]],
  ["logit_bias", [[1, true]]],
  ["logit_bias", [[1, 2, 3]]],
  ["logit_bias", { "-1": 1 }],
  ["n", 0],
  ["n", 17],
  ["n", "2"],
  ["n", 1.5],
  ["logprobs", 1],
  ["top_logprobs", -1],
  ["top_logprobs", 21],
  ["response_format", "json"],
  ["response_format", { type: "xml" }],
  ["response_format", { type: "json_schema" }],
  ["response_format", { type: "json_schema", json_schema: { name: "a" } }],
  ["response_format", { type: "json_schema", json_schema: { schema: [] } }],
  ["response_format", { type: "json_object", schema: "{}" }],
  ["json_schema", "{}"],
  ["functions", [{ name: "f" }]],
  ["function_call", "auto"],
  ["audio", { voice: "x", format: "wav" }],
  ["modalities", ["text", "audio"]],
  ["grammar", 1],
  ["grammar", "x".repeat(grammarLengthMax + 1)],
  ["tools", {}],
  ["tools", ["x"]],
  ["tools", Array.from({ length: toolsMax + 1 }, () => ({ type: "function", function: { name: "f" } }))],
  ["tools", [{ type: "function", function: { name: "two words" } }]],
  ["tools", [{ type: "function", function: { name: "f", parameters: "{}" } }]],
  ["tools", [{ type: "retrieval" }]],
  ["tool_choice", "always"],
  ["tool_choice", { type: "function" }],
  ["tool_choice", { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [named("f")] } }],
  ["tool_choice", { type: "allowed_tools", allowed_tools: { mode: "any", tools: [named("f")] } }],
  ["tool_choice", "required"],
  ["tool_choice", { type: "function", function: { name: "f" } }],
  ["parallel_tool_calls", "yes"],
  ["reasoning_effort", "enormous"],
  ["thinking_budget_tokens", -2],
  ["reasoning_budget", 1.5],
  ["thinking_budget", "9"],
  ["reasoning_budget_tokens", 2 ** 31],
  ["reasoning_budget_message", "x".repeat(1_025)],
  ["reasoning", "high"],
  ["chat_template_kwargs", []],
  ["chat_template_kwargs", { messages: "x" }],
  ["chat_template_kwargs", { nested: {} }],
  ["chat_template_kwargs", { nested: [[]] }],
  ["chat_template_kwargs", { long: Array.from({ length: 257 }, () => 1) }],
  ["chat_template_kwargs", { "not a name": 1 }],
  [
    "chat_template_kwargs",
    Object.fromEntries(Array.from({ length: templateKwargsMax + 1 }, (_, i) => [`a${i}`, 1])),
  ],
  ["continue_final_message", true],
  ["continue_final_message", "yes"],
  ["stream", 1],
  ["stream", "true"],
  ["stream_options", true],
  ["stream_options", { include_usage: 1 }],
  ["cache_prompt", 0],
  ["cache_salt", ""],
  ["prediction", "a text"],
  ["prediction", { type: "text", content: "a" }],
  ["prediction", { type: "content", content: 1 }],
  ["timings_per_token", "x"],
  ["ignore_eos", 1],
  ["user", 5],
  ["user", "x".repeat(userLengthMax + 1)],
];

test.each(bad)("refuses a bad %s (%#) and names the field and its rule", (field, value) => {
  const error = ChatCompletionRequest.safeParse({ ...minimal, [field]: value }).error!;
  expect(new Set(error.issues.map((issue) => issue.path[0]))).toEqual(new Set([field]));
  const problem = firstIssue(error);
  expect(problem.param).toMatch(new RegExp(`^${field}(?:[.[]|$)`));
  expect(problem.message).not.toMatch(/^(?:Invalid|Too|Unrecognized)/); // That is how the schema library speaks.
});

describe("fields that contradict each other", () => {
  test("both names of the repetition penalty may be given only with the same value", () => {
    expect(listProblems({ ...minimal, repeat_penalty: 1.1, repetition_penalty: 1.1 })).toEqual([]);
    expect(listProblems({ ...minimal, repeat_penalty: 1.1, repetition_penalty: 1.2 })).toEqual([
      "repetition_penalty",
    ]);
  });

  test("top_logprobs without logprobs is refused", () => {
    expect(listProblems({ ...minimal, top_logprobs: 0 })).toEqual(["top_logprobs"]);
    expect(listProblems({ ...minimal, logprobs: false, top_logprobs: 5 })).toEqual(["top_logprobs"]);
  });

  test("a grammar beside a response_format is refused even when the format is plain text", () => {
    const both = { grammar: "root ::= x", response_format: { type: "text" } };
    const error = ChatCompletionRequest.safeParse({ ...minimal, ...both }).error!;
    expect(firstIssue(error)).toMatchObject({
      param: "grammar",
      message: expect.stringContaining("exclude each other"),
    });
  });
});

test("what is wrong with a tool of the type custom is that type, and the error says what to send", () => {
  const parsed = ChatCompletionRequest.safeParse({
    ...minimal,
    tools: [{ type: "custom", custom: { name: "f" } }],
  });
  expect(parsed.error && firstIssue(parsed.error)).toEqual({
    param: "tools[0].type",
    message: expect.stringMatching(/custom are known only to \/v1\/responses: send a function/),
  });
  const other = ChatCompletionRequest.safeParse({ ...minimal, tools: [{ type: "retrieval" }] });
  expect(other.error && firstIssue(other.error).message).toBe(
    'the type of a tool must be "function", not "retrieval"',
  );
});

test("a form of the reply goes with tools that may be called; a grammar of the whole reply does not", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const response_format = { type: "json_object" };
  expect(listProblems({ ...minimal, tools, response_format })).toEqual([]);
  expect(listProblems({ ...minimal, tools, grammar: 'root ::= "a"' })).toEqual(["grammar"]);
  expect(listProblems({ ...minimal, tools, grammar: 'root ::= "a"', tool_choice: "none" })).toEqual([]);
});

test("a schema may stand in one place only", () => {
  const json_schema = { type: "object" };
  const problems = (response_format: object) => listProblems({ ...minimal, json_schema, response_format });
  expect(problems({ type: "json_object" })).toEqual([]);
  expect(problems({ type: "json_object", schema: {} })).toEqual(["json_schema"]);
  expect(problems({ type: "json_schema", json_schema: { schema: {} } })).toEqual(["json_schema"]);
  expect(listProblems({ ...minimal, json_schema, grammar: 'root ::= "a"' })).toEqual(["grammar"]);
});

test("fields that are ignored are named, but for values that ask for what is done anyway", () => {
  const ignored = (body: object) =>
    findIgnoredFields(ChatCompletionRequest, ChatCompletionRequest.parse({ ...minimal, ...body }));
  expect(ignored({ store: true, metadata: { a: "b" }, verbosity: "low", service_tier: "flex" })).toEqual([
    "service_tier",
    "store",
    "metadata",
    "verbosity",
  ]);
  expect(ignored({ store: false, metadata: null, verbosity: "medium", service_tier: "auto" })).toEqual([]);
  expect(ignored({ n_predict: 2, thinking_budget_tokens: -1, unknown: 1 })).toEqual(["n_predict"]);
});

test("a reply may go on with the assistant's last message", () => {
  const messages = [...minimal.messages, { role: "assistant", content: "Once upon" }];
  expect(listProblems({ ...minimal, messages, continue_final_message: true })).toEqual([]);
});

test("unknown fields are ignored, whatever they hold", () => {
  const known = new Set(Object.keys(ChatCompletionRequest.shape));
  const unknownField = fc.string({ minLength: 1 }).filter((key) => !known.has(key) && key !== "__proto__");
  fc.assert(
    fc.property(fc.dictionary(unknownField, fc.jsonValue()), (fields) => {
      expect(listProblems({ ...minimal, ...fields })).toEqual([]);
    }),
  );
});

test("any JSON value at all either parses or gives a problem that can be told", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const { error } = ChatCompletionRequest.safeParse(body);
      expect(error === undefined || firstIssue(error).message !== "").toBe(true);
    }),
  );
});

test("requests and answers can be described as JSON Schema", () => {
  const request = z.toJSONSchema(ChatCompletionRequest, { io: "input" });
  expect(request.$defs?.["ChatCompletionRequest"]).toMatchObject({
    type: "object",
    required: ["messages"],
  });
  expect(z.toJSONSchema(ChatCompletion).$defs).toHaveProperty("ChatCompletion");
  expect(z.toJSONSchema(ChatCompletionChunk).$defs).toHaveProperty("ChatCompletionChunk");
});
