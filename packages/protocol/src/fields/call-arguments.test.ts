import { describe, expect, it } from "vitest";
import { MessagesRequest } from "../anthropic/request.ts";
import { ChatCompletionRequest } from "../chat/chat-completion.ts";
import { numbersMax, valuesMax } from "../json-shape.ts";
import { firstIssue } from "../request-issue.ts";
import { ResponsesRequest } from "../responses/request.ts";

const user = { role: "user", content: "Hi" };
const chat = (...texts: string[]) => {
  const tool_calls = texts.map((text, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "f", arguments: text },
  }));
  return { model: "m", messages: [user, { role: "assistant", tool_calls }, user] };
};
const older = (text: string) => ({
  model: "m",
  messages: [user, { role: "assistant", function_call: { name: "f", arguments: text } }, user],
});
const response = (...texts: string[]) => ({
  model: "m",
  input: texts.map((text) => ({ type: "function_call", call_id: "c", name: "f", arguments: text })),
});
const message = (input: unknown) => ({
  model: "m",
  max_tokens: 1,
  messages: [{ role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input }] }, user],
});

const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const findProblem = (schema: typeof ChatCompletionRequest | typeof ResponsesRequest, body: object) => {
  const result = schema.safeParse(body);
  return result.success ? undefined : firstIssue(result.error);
};

describe("the arguments of earlier calls", () => {
  it.each([
    ['{"city": "Rome"}', '{"city": "Rome"}'],
    ["", "{}"],
    [" \n", "{}"],
    ['{"city": "Ro', JSON.stringify({ arguments: '{"city": "Ro' })],
    ["[1]", '{"arguments":"[1]"}'],
    ["null", '{"arguments":"null"}'],
  ])("%j are the object %j", (text, expected) => {
    expect(ChatCompletionRequest.parse(chat(text)).messages[1]).toHaveProperty(
      "tool_calls[0].function.arguments",
      expected,
    );
    expect(ChatCompletionRequest.parse(older(text)).messages[1]).toHaveProperty(
      "function_call.arguments",
      expected,
    );
    expect(ResponsesRequest.parse(response(text)).input).toHaveProperty("[0].arguments", expected);
  });

  it("become the text of their object where they are one", () => {
    const { messages } = MessagesRequest.parse(message({ city: "Rome", days: [1, 2] }));
    expect(messages[0]).toHaveProperty("content[0].input", '{"city":"Rome","days":[1,2]}');
  });

  it("are refused by their place when they are nested too deeply, however deep", () => {
    for (const depth of [64, 65_000]) {
      const rule = "a call's arguments must not be nested deeper than 64 levels";
      expect(findProblem(ChatCompletionRequest, chat("{}", nested(depth)))).toEqual({
        param: "messages[1].tool_calls[1].function.arguments",
        message: rule,
      });
      expect(findProblem(ChatCompletionRequest, older(nested(depth)))?.param).toBe(
        "messages[1].function_call.arguments",
      );
      expect(findProblem(ResponsesRequest, response("{}", nested(depth)))).toEqual({
        param: "input[1].arguments",
        message: rule,
      });
      const { error } = MessagesRequest.safeParse(message(JSON.parse(nested(depth))));
      expect(error === undefined ? undefined : firstIssue(error)).toEqual({
        param: "messages[0].content[0].input",
        message: rule,
      });
    }
    expect(findProblem(ChatCompletionRequest, chat(nested(63)))).toBeUndefined();
  });

  it("have bounds for all calls together", () => {
    const many = (count: number) => `[${Array.from({ length: count - 1 }, () => "{}").join()}]`;
    const half = many(valuesMax / 2);
    expect(findProblem(ChatCompletionRequest, chat(half, half))).toBeUndefined();
    expect(findProblem(ChatCompletionRequest, chat(half, half, "1"))).toEqual({
      param: "messages",
      message: `the arguments of all calls together must have at most ${valuesMax} values, and ${numbersMax} numbers in arrays`,
    });
    expect(findProblem(ChatCompletionRequest, older(many(valuesMax + 1)))?.param).toBe("messages");
    expect(findProblem(ResponsesRequest, response(half, half, "1"))?.param).toBe("input");
    const numbers = `[${"1,".repeat(numbersMax / 2)}1]`;
    expect(findProblem(ResponsesRequest, response(numbers, numbers))?.param).toBe("input");
  });
});
