import { describe, expect, test } from "vitest";

import { textLengthMax } from "./fields/content.ts";
import { firstIssue } from "./request-issue.ts";
import { tokensMax } from "./fields/size-precheck.ts";
import { DetokenizeRequest, TokenizeRequest } from "./tokenize.ts";

const messages = [{ role: "user", content: "Hi" }];

describe("a request to tokenize", () => {
  test.each<[object]>([
    [{ content: "" }],
    [{ prompt: "Hi", model: "tiny", add_special_tokens: false }],
    [{ content: "Hi", prompt: null, add_special: true, add_special_tokens: true, parse_special: false }],
    [{ messages, add_generation_prompt: true, with_pieces: true }],
    [
      {
        messages: [{ role: "assistant", content: "So" }],
        continue_final_message: true,
        add_generation_prompt: false,
      },
    ],
    [{ messages, tools: [{ type: "function", function: { name: "f" } }], tool_choice: "required" }],
    [{ content: "Hi", unknown: [] }],
  ])("passes with %j", (body) => {
    expect(TokenizeRequest.safeParse(body).error).toBeUndefined();
  });

  test.each<[string, object]>([
    ["content", {}],
    ["content", { content: null }],
    ["prompt", { content: "a", prompt: "b" }],
    ["messages", { prompt: "a", messages }],
    ["content", { content: 5 }],
    ["content", { content: ["a"] }],
    ["prompt", { prompt: "x".repeat(textLengthMax + 1) }],
    ["messages", { messages: [] }],
    ["model", { model: 5, content: "a" }],
    ["add_special", { content: "a", add_special: 1 }],
    ["add_special_tokens", { content: "a", add_special: true, add_special_tokens: false }],
    ["add_generation_prompt", { messages, add_generation_prompt: false }],
    ["continue_final_message", { messages, continue_final_message: true }],
    ["tool_choice", { messages, tool_choice: "required" }],
  ])("is refused for its %s in %j", (field, body) => {
    const { error } = TokenizeRequest.safeParse(body);
    expect(firstIssue(error!).param).toBe(field);
  });
});

describe("a request to detokenize", () => {
  test.each<[{ tokens: number[]; model?: string }]>([
    [{ tokens: [] }],
    [{ tokens: [0, 2 ** 31 - 1], model: "tiny" }],
  ])("passes with %j", (body) => {
    const { tokens } = body;
    expect(DetokenizeRequest.parse(body)).toEqual({ ...body, tokens: Int32Array.from(tokens) });
  });

  test.each<[object]>([
    [{}],
    [{ tokens: null }],
    [{ tokens: "1" }],
    [{ tokens: [1, "2"] }],
    [{ tokens: [-1] }],
    [{ tokens: [2 ** 31] }],
    [{ tokens: [0.5] }],
    [{ tokens: Array.from({ length: tokensMax + 1 }, () => 1) }],
  ])("is refused for its tokens", (body) => {
    const { error } = DetokenizeRequest.safeParse(body);
    expect(firstIssue(error!)).toEqual({
      param: "tokens",
      message: expect.stringMatching(/^tokens must be/),
    });
  });
});
