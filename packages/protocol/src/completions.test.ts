import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import {
  completionLogprobsMax,
  CompletionPrompt,
  CompletionRequest,
  completionsMax,
  promptList,
} from "./completions.ts";
import { textLengthMax } from "./fields/content.ts";
import { firstIssue } from "./request-issue.ts";
import { tokensMax } from "./fields/size-precheck.ts";
import { choicesMax } from "./fields/request-fields.ts";

const minimal = { model: "tiny", prompt: "Once" };

function listProblems(body: object): string[] {
  const { error } = CompletionRequest.safeParse({ ...minimal, ...body });
  return [...new Set((error?.issues ?? []).map((issue) => String(issue.path[0])))];
}

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe("a prompt", () => {
  const text = fc.string();
  const tokens = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 20 });

  test("is a text or token ids, or several of either, one after the other", () => {
    const several = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.oneof(text, tokens, several(text), several(tokens)), (prompt) => {
        const parsed = CompletionRequest.parse({ ...minimal, prompt });
        const isOne = typeof prompt === "string" || typeof prompt[0] === "number";
        const prompts = promptList(parsed.prompt).map((one) => (typeof one === "string" ? one : [...one]));
        expect(prompts).toEqual(isOne ? [prompt] : prompt);
      }),
    );
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["no prompts", []],
    ["an empty list of tokens", [[]]],
    ["texts and tokens", ["a", 1]],
    ["tokens and texts", [1, "a"]],
    ["texts and lists", ["a", [1]]],
    ["a negative token", [1, -1]],
    ["a part of a token", [1.5]],
    ["a token beyond 32 bits", [[2 ** 31]]],
    ["null among tokens", [1, null]],
    ["lists in lists in lists", [[[1]]]],
    ["too long a text", "x".repeat(textLengthMax + 1)],
    ["too many texts", many(completionsMax + 1, "a")],
    ["too many lists", many(completionsMax + 1, [1])],
    ["too many tokens", many(tokensMax + 1, 1)],
  ])("that is %s is refused, with a sentence that says what it must be", (_, prompt) => {
    const { error } = CompletionRequest.safeParse({ ...minimal, prompt });
    const { message, param } = firstIssue(error!);
    expect([message, param]).toEqual([
      expect.stringMatching(/^prompt must be/),
      expect.stringMatching(/^prompt/),
    ]);
  });

  test("of many wrong items is few issues", () => {
    for (const prompt of [many(1_000_000, {}), many(1_000_000, [{}]), [many(1_000_000, "a")]]) {
      const { error } = CompletionRequest.safeParse({ ...minimal, prompt });
      expect(JSON.stringify(error?.issues).length).toBeLessThan(100_000);
    }
  });

  test("may be as large as the limits say", () => {
    expect(listProblems({ prompt: many(tokensMax, 1) })).toEqual([]);
    expect(listProblems({ prompt: many(completionsMax, "a") })).toEqual([]);
  });
});

describe("what a request asks for", () => {
  test.each<[string, object]>([
    ["logprobs", { logprobs: completionLogprobsMax + 1 }],
    ["logprobs", { logprobs: -1 }],
    ["logprobs", { logprobs: true }],
    ["suffix", { logprobs: 0, echo: true, suffix: "." }],
    ["max_tokens", { max_tokens: -2 }],
    ["echo", { echo: "yes" }],
    ["best_of", { best_of: 2, stream: true }],
    ["best_of", { best_of: 2, prompt: many(completionsMax / 2 + 1, "a") }],
    ["best_of", { best_of: choicesMax + 1 }],
    ["best_of", { best_of: 2, n: 3 }],
    ["best_of", { best_of: 0 }],
    ["n", { n: choicesMax + 1 }],
    ["n", { n: 2, prompt: many(completionsMax / 2 + 1, "a") }],
    ["suffix", { suffix: 5 }],
    ["suffix", { suffix: "x".repeat(textLengthMax + 1) }],
    ["suffix", { suffix: "end", prompt: [1, 2] }],
    ["grammar", { grammar: 'root ::= "a"', response_format: { type: "json_object" } }],
    ["repetition_penalty", { repetition_penalty: 1.1, repeat_penalty: 1.2 }],
    ["temperature", { temperature: -1 }],
    ["stream", { stream: "true" }],
    ["model", { model: 5 }],
  ])("is refused for its %s in %j", (field, body) => {
    expect(listProblems(body)).toEqual([field]);
  });

  test.each<[object]>([
    [{ n: 3, best_of: 3 }],
    [{ tools: null, tool_choice: null }],
    [{ best_of: 1 }],
    [{ best_of: 4, n: 2 }],
    [{ best_of: 2, n: 2, stream: true }],
    [{ n: 2, prompt: many(completionsMax / 2, "a") }],
    [{ logprobs: 0 }],
    [{ logprobs: 5, echo: true, max_tokens: 0 }],
    [{ suffix: "", prompt: [1] }],
    [{ suffix: "end", prompt: ["a", "b"] }],
    [{ max_tokens: -1, stop: ["a"], grammar: 'root ::= "a"', user: "me" }],
  ])("passes with %j", (body) => {
    expect(listProblems(body)).toEqual([]);
  });

  const optional = Object.keys(CompletionRequest.shape).filter((field) => !(field in minimal));
  test.each(optional)("is the same with null for %s as without it", (field) => {
    expect(CompletionRequest.parse({ ...minimal, [field]: null })).toEqual(CompletionRequest.parse(minimal));
  });

  test("may hold fields that nobody knows", () => {
    expect(CompletionRequest.parse({ ...minimal, guess: 1 })).toEqual({ ...minimal, guess: 1 });
  });
});

test("a request's JSON schema names the forms of a prompt", () => {
  const schema = z.toJSONSchema(z.object({ prompt: CompletionPrompt }), { io: "input" });
  const { anyOf = [] } = schema.$defs?.["CompletionPrompt"] ?? {};
  expect(anyOf.map((form) => form.type)).toEqual(["string", "array", "array", "array"]);
});
