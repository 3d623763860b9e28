// Whatever body is sent to a JSON endpoint, it gets a valid response or an error, and the server continues.
import {
  ChatCompletion,
  ChatCompletionChunk,
  Completion,
  CompletionChunk,
  completionsMax,
  Detokenization,
  KeptBodies,
  ManagedModel,
  ModelAliases,
  PullEvent,
  RemovedModel,
  InputTokenCount,
  RenderedPrompt,
  RenderedPrompts,
  Tokenization,
} from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import type { ModelLibrary } from "../src/models/library/model-library.ts";
import { scriptedLibrary } from "./harness/scripted-library.ts";
import { scriptedKnown } from "./harness/scripted-models.ts";
import { scriptedId, scriptedServer } from "./harness/scripted-server.ts";
import { expectSoundResponses, type EndpointUnderTest } from "./hostile-bodies.ts";

const sampling = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 5,
  min_p: 0.1,
  repeat_penalty: 1.1,
  repetition_penalty: 1.1,
  repeat_last_n: 10,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  max_tokens: 4,
  max_completion_tokens: 4,
  stop: ["one", "two"],
  seed: 7,
  logit_bias: { "5": 1 },
  n: 2,
  stream: false,
  stream_options: { include_usage: true },
  cache_prompt: true,
  timings_per_token: true,
  ignore_eos: false,
  user: "somebody",
};

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const manyKeys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, "a"]));
const named = { type: "function", function: { name: "f", parameters: { type: "object" } } };
/** A model that is not loaded, and a name that exists again after it was removed. */
const idleId = "acme/idle";
const lastingAlias = "always";
const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Hi" }], name: "me" },
];

const chat: EndpointUnderTest = {
  path: "/v1/chat/completions",
  body: {
    model: scriptedId,
    messages,
    ...sampling,
    logprobs: true,
    top_logprobs: 2,
    response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
    tools: [named],
    tool_choice: "none",
    reasoning_effort: "low",
    chat_template_kwargs: { enable_thinking: false },
  },
  response: ChatCompletion,
  event: ChatCompletionChunk,
  border: {
    stream: [true],
    logit_bias: [manyKeys],
    chat_template_kwargs: [manyKeys],
    messages: [many(10_001, { role: "user", content: "" }), many(100_000, 1)],
  },
};

const completions: EndpointUnderTest = {
  path: "/v1/completions",
  body: {
    model: scriptedId,
    prompt: ["Once", "Twice"],
    suffix: "",
    echo: true,
    best_of: 2,
    response_format: { type: "json_object" },
    ...sampling,
  },
  response: Completion,
  event: CompletionChunk,
  border: {
    stream: [true],
    echo: [false],
    logprobs: [0, 5, 6],
    best_of: [1, 16],
    n: [16, 17],
    suffix: ["end"],
    prompt: [
      "a",
      [1, 2],
      [[1], [2]],
      [255, 256],
      many(completionsMax, "a"),
      many(completionsMax + 1, "a"),
      many(100_000, "a"),
      many(3_000, 1),
    ],
  },
};

const endpoints: EndpointUnderTest[] = [
  chat,
  completions,
  { path: `${chat.path}/render`, body: chat.body, response: RenderedPrompt, border: chat.border ?? {} },
  {
    path: `${chat.path}/input_tokens`,
    body: chat.body,
    response: InputTokenCount,
    border: chat.border ?? {},
  },
  {
    path: `${completions.path}/render`,
    body: completions.body,
    response: RenderedPrompts,
    border: completions.border ?? {},
  },
  {
    path: "/v1/tokenize",
    body: { model: scriptedId, content: "Hi", add_special: true, parse_special: true, with_pieces: true },
    response: Tokenization,
    border: {
      content: [null, "a".repeat(70_000)],
      prompt: ["a"],
      messages: [messages],
      with_pieces: [false],
    },
  },
  {
    path: "/v1/detokenize",
    body: { model: scriptedId, tokens: [1, 2, 255] },
    response: Detokenization,
    border: { tokens: [[], [256], [2 ** 31 - 1], [2 ** 31], many(100_000, 1), many(100_000, "a")] },
  },
  { path: "/api/v1/requests/bodies", body: { keep: true }, response: KeptBodies },
  { path: "/api/v1/models/load", body: { model: scriptedId, wait: true }, response: ManagedModel },
  { path: "/api/v1/models/unload", body: { model: scriptedId, wait: true }, response: ManagedModel },
  { path: "/api/v1/models/remove", body: { model: idleId }, response: RemovedModel },
  {
    path: "/api/v1/models/pull",
    body: { model: "acme/tiny", stream: false },
    response: PullEvent,
    event: PullEvent,
    border: { stream: [true] },
  },
  {
    path: "/api/v1/models/alias",
    body: { model: idleId, alias: "daily" },
    response: ModelAliases,
    border: { alias: ["a".repeat(100), "a".repeat(101), "constructor", "__proto__", "../daily"] },
  },
  {
    path: "/api/v1/models/unalias",
    body: { alias: lastingAlias },
    response: ModelAliases,
    border: { alias: ["a".repeat(100), "a".repeat(101), "constructor", "__proto__"] },
  },
];

describe.each(endpoints)("$path", (endpoint) => {
  it("answers every body with a valid response or a documented error, and continues", async () => {
    await using scripted = await scriptedServer({ library: libraryUnderTest() });
    scripted.server.registry.add(scriptedKnown(idleId));
    await expectSoundResponses(scripted.server.url, endpoint);
    await expect.poll(() => scripted.log.running.size).toBe(0);
  });
});

function libraryUnderTest(): ModelLibrary {
  const { library, finish } = scriptedLibrary([scriptedKnown(idleId)]);
  finish.open();
  return {
    ...library,
    remove: async (model) => ({ what: model, reason: "asked", freedBytes: 0 }),
    unalias: async (alias, options) =>
      alias === lastingAlias ? { id: idleId, aliases: [] } : await library.unalias(alias, options),
  };
}
