import fc from "fast-check";
import { expect, test } from "vitest";

import { ChatCompletionRequest } from "./chat-completion.ts";
import { messagesMax, partsMax, partsOfAllMax } from "../fields/content.ts";
import { ChatMessages } from "./messages.ts";
import { firstIssue } from "../request-issue.ts";

const textPart = fc.record({ type: fc.constant("text"), text: fc.string() });
const imagePart = fc.record({
  type: fc.constant("image_url"),
  image_url: fc.record({ url: fc.string({ minLength: 1 }) }),
});
const textContent = fc.oneof(fc.string(), fc.array(textPart, { minLength: 1, maxLength: 5 }));
const userContent = fc.oneof(
  textContent,
  fc.array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 5 }),
);
const toolCall = fc.record({
  id: fc.string({ minLength: 1, maxLength: 20 }),
  type: fc.constant("function"),
  function: fc.record({ name: fc.string({ minLength: 1, maxLength: 20 }), arguments: fc.string() }),
});
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer", "assistant"), content: textContent }),
  fc.record({ role: fc.constant("user"), content: userContent }),
  fc.record({
    role: fc.constant("tool"),
    content: textContent,
    tool_call_id: fc.string({ minLength: 1, maxLength: 20 }),
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.constant(null),
    tool_calls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
  }),
);

function findProblem(...messages: unknown[]): { message: string; param: string | null } | undefined {
  const result = ChatCompletionRequest.safeParse({ model: "tiny", messages });
  return result.success ? undefined : firstIssue(result.error);
}

test("any conversation of known roles, texts, images and tool calls passes", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 10 }), (messages) => {
      expect(ChatMessages.safeParse(messages).error).toBeUndefined();
    }),
  );
});

test("a problem deep inside one message is named with its place", () => {
  fc.assert(
    fc.property(fc.nat(5), fc.nat(5), (before, partsBefore) => {
      const fine = { role: "user", content: "Hello" };
      const parts = Array.from({ length: partsBefore }, () => ({ type: "text", text: "a" }));
      const wrong = { role: "user", content: [...parts, { type: "image_url", image_url: {} }] };
      const messages = [...Array.from({ length: before }, () => fine), wrong, fine];
      expect(findProblem(...messages)?.param).toBe(
        `messages[${before}].content[${partsBefore}].image_url.url`,
      );
    }),
  );
});

test.each([
  ["messages[0].role", { role: "king", content: "Hello" }],
  ["messages[0].role", { content: "Hello" }],
  ["messages[0]", "Hello"],
  ["messages[0].content", { role: "user" }],
  ["messages[0].content", { role: "user", content: null }],
  ["messages[0].content", { role: "user", content: [] }],
  [
    "messages[0].content",
    { role: "user", content: Array.from({ length: partsMax + 1 }, () => ({ type: "text", text: "" })) },
  ],
  ["messages[0].content", { role: "assistant" }],
  ["messages[0].content", { role: "assistant", content: null, tool_calls: [] }],
  ["messages[0].content[0].type", { role: "user", content: [{ type: "video" }] }],
  ["messages[0].content[0].text", { role: "user", content: [{ type: "text" }] }],
  [
    "messages[0].content[0].type",
    { role: "system", content: [{ type: "image_url", image_url: { url: "data:," } }] },
  ],
  ["messages[0].tool_call_id", { role: "tool", content: "42", tool_call_id: 5 }],
  ["messages[0].name", { role: "function", content: "42" }],
])("names %s when it is wrong (%#)", (param, wrong) => {
  expect(findProblem(wrong)?.param).toBe(param);
});

test("a conversation with calls, their results and what was thought passes", () => {
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const asked = { role: "assistant", content: null, reasoning_content: "Let me see.", tool_calls: [call] };
  expect(
    findProblem(asked, { role: "tool", content: "42", tool_call_id: "call_1", name: "f" }),
  ).toBeUndefined();
});

test("a conversation longer than the limit is refused", () => {
  const many = Array.from({ length: messagesMax + 1 }, () => ({ role: "user", content: "" }));
  expect(findProblem(...many)?.param).toBe("messages");
  expect(findProblem(...many.slice(1))).toBeUndefined();
});

test("an assistant message with empty text passes: empty is a value", () => {
  expect(findProblem({ role: "assistant", content: "" }, { role: "user", content: "go on" })).toBeUndefined();
});

test("millions of wrong parts are one problem, told at once", () => {
  const content = Array.from({ length: partsMax }, () => 0);
  const messages = Array.from({ length: messagesMax }, () => ({ role: "user", content }));
  const begin = performance.now();
  const problem = findProblem(...messages);
  expect(performance.now() - begin).toBeLessThan(2_000);
  const rule = `messages must have at most ${partsOfAllMax} content parts in all`;
  expect(problem).toEqual({ param: "messages", message: rule });
  // What looks at the last message is not asked either.
  const body = { model: "tiny", messages, continue_final_message: true };
  expect(ChatCompletionRequest.safeParse(body).error?.issues).toMatchObject([{ message: rule }]);
});
