import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { messagesMax, nameLengthMax, partsMax, partsOfAllMax } from "../fields/content.ts";
import { firstIssue } from "../request-issue.ts";
import { userLengthMax } from "../fields/request-fields.ts";
import { toolsMax } from "../fields/tools.ts";
import { ResponseObject } from "./response.ts";
import { ResponsesEvent } from "./events.ts";
import {
  includeMax,
  metadataMax,
  metadataNameMax,
  metadataValueMax,
  ResponsesRequest,
  storedIdLengthMax,
} from "./request.ts";

const minimal = { model: "tiny", input: "Hello" };
const f = { type: "function", name: "f" };
const format = { type: "json_object" };
const grammar = { type: "grammar", syntax: "lark", definition: "start: /.+/" };

function findProblem(body: object): { message: string; param: string | null } | undefined {
  const { error } = ResponsesRequest.safeParse({ ...minimal, ...body });
  return error && firstIssue(error);
}

const text = { type: "input_text", text: "Hi" };
const item = fc.oneof(
  fc.record({
    role: fc.constantFrom("user", "assistant", "system", "developer"),
    content: fc.oneof(
      fc.string(),
      fc.constant([text, { type: "output_text", text: "Yes", annotations: [] }]),
    ),
  }),
  fc.constant({
    type: "message",
    role: "assistant",
    id: "msg_1",
    content: [{ type: "refusal", refusal: "No" }],
  }),
  fc.constant({ type: null, role: "user", content: [{ type: "input_image", image_url: "data:," }] }),
  fc.constant({
    type: "function_call",
    id: "fc_1",
    call_id: "c",
    name: "f",
    arguments: "{}",
    status: "completed",
  }),
  fc.constant({ type: "function_call_output", call_id: "c", output: "Sunny." }),
  fc.constant({ type: "function_call_output", call_id: "c", output: [text] }),
  fc.constant({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: null }),
  fc.constant({ type: "reasoning", summary: [{ type: "summary_text", text: "So" }], content: null }),
  fc.constant({ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] }),
);

test("any conversation of known items passes", () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 10 }), (input) => {
      expect(findProblem({ input })).toBeUndefined();
    }),
  );
});

test.each<[string, object]>([
  ["instructions", { instructions: "Be brief." }],
  ["limits", { max_output_tokens: 5, temperature: 0, top_p: 0.5, top_k: 3, repeat_penalty: 1.1, seed: 1 }],
  [
    "probabilities",
    { include: ["message.output_text.logprobs", "reasoning.encrypted_content"], top_logprobs: 5 },
  ],
  ["a form", { text: { format, verbosity: "low" } }],
  [
    "a schema",
    { text: { format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true } } },
  ],
  [
    "tools",
    { tools: [{ ...f, description: null, parameters: null, strict: true }], tool_choice: "required" },
  ],
  ["a chosen tool", { tools: [f], tool_choice: f, parallel_tool_calls: false }],
  ["allowed tools", { tools: [f], tool_choice: { type: "allowed_tools", mode: "auto", tools: [f] } }],
  ["a form beside tools", { tools: [f], text: { format } }],
  ["no model", { model: undefined }],
  ["tools of other types", { tools: [f, { type: "web_search" }] }],
  [
    "a custom tool",
    { tools: [{ type: "custom", name: "patch" }], tool_choice: { type: "custom", name: "patch" } },
  ],
  ["a custom tool with a format", { tools: [{ type: "custom", name: "patch", format: grammar }] }],
  ["a namespace", { tools: [{ type: "namespace", name: "n", tools: [f] }], tool_choice: "required" }],
  ["thinking", { reasoning: { effort: "high", summary: "auto", generate_summary: null } }],
  ["what is given back", { metadata: { a: "b" }, user: "me", safety_identifier: "x", prompt_cache_key: "y" }],
  ["what is kept", { store: true, background: true, previous_response_id: "resp_1" }],
  ["no input after a response", { input: undefined, previous_response_id: "resp_1" }],
  ["no items in a conversation", { input: [], conversation: "conv_1" }],
  ["a conversation", { conversation: "conv_1", store: false }],
  ["a conversation in an object", { conversation: { id: "conv_1" } }],
  ["what changes nothing", { store: true, truncation: "auto", background: false, service_tier: "flex" }],
])("takes %s", (_name, body) => {
  expect(findProblem(body)).toBeUndefined();
});

const optionalFields = Object.keys(ResponsesRequest.shape).filter(
  (field) => field !== "model" && field !== "input",
);

test.each(optionalFields)("null for %s means the same as leaving it out", (field) => {
  const parsed: Record<string, unknown> = ResponsesRequest.parse({ ...minimal, [field]: null });
  expect(parsed[field]).toBeUndefined();
  expect(parsed).toEqual(ResponsesRequest.parse(minimal));
});

const bad: [param: string, body: object][] = [
  ["model", { model: 5 }],
  ["input", { input: undefined }],
  ["input", { input: null }],
  ["input", { input: [] }],
  ["input", { input: 5 }],
  ["input", { input: Array.from({ length: messagesMax + 1 }, () => ({ role: "user", content: "" })) }],
  ["input[0]", { input: ["Hello"] }],
  ["input[0].role", { input: [{ role: "king", content: "Hello" }] }],
  ["input[0].role", { input: [{ id: "msg_1" }] }],
  ["input[0].content", { input: [{ role: "user" }] }],
  ["input[0].content", { input: [{ role: "user", content: [] }] }],
  [
    "input[0].content",
    { input: [{ role: "user", content: Array.from({ length: partsMax + 1 }, () => text) }] },
  ],
  ["input[0].content[1].type", { input: [{ role: "user", content: [text, { type: "input_video" }] }] }],
  ["input[0].content[0].input_audio", { input: [{ role: "user", content: [{ type: "input_audio" }] }] }],
  ["input[0].content[0].file_data", { input: [{ role: "user", content: [{ type: "input_file" }] }] }],
  ["input[0].content[0].text", { input: [{ role: "user", content: [{ type: "input_text" }] }] }],
  ["input[0].content[0].image_url", { input: [{ role: "user", content: [{ type: "input_image" }] }] }],
  ["input[1].type", { input: [{ role: "user", content: "" }, { type: "compaction" }] }],
  ["input[0].type", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["input[0].call_id", { input: [{ type: "function_call", name: "f", arguments: "{}" }] }],
  ["input[0].arguments", { input: [{ type: "function_call", call_id: "c", name: "f", arguments: {} }] }],
  [
    "input[0].call_id",
    { input: [{ type: "function_call_output", call_id: "x".repeat(nameLengthMax + 1), output: "" }] },
  ],
  ["input[0].output", { input: [{ type: "function_call_output", call_id: "c" }] }],
  ["input[0].content", { input: [{ type: "reasoning", content: "Hm" }] }],
  ["input[0].content[0].text", { input: [{ type: "reasoning", content: [{ type: "reasoning_text" }] }] }],
  ["instructions", { instructions: ["Be brief."] }],
  ["max_output_tokens", { max_output_tokens: 0 }],
  ["temperature", { temperature: -1 }],
  ["top_p", { top_p: 1.1 }],
  ["repetition_penalty", { repetition_penalty: 1.1, repeat_penalty: 1.2 }],
  ["include", { include: "message.output_text.logprobs" }],
  ["include", { include: Array.from({ length: includeMax + 1 }, () => "a") }],
  ["top_logprobs", { top_logprobs: 21 }],
  ["text", { text: "json" }],
  ["text.format", { text: { format: "json" } }],
  ["text.format.type", { text: { format: { type: "xml" } } }],
  ["text.format.schema", { text: { format: { type: "json_schema", name: "a" } } }],
  ["tools", { tools: {} }],
  ["tools", { tools: Array.from({ length: toolsMax + 1 }, () => f) }],
  ["tools[0].type", { tools: [{ type: 5 }] }],
  ["tools[0].type", { tools: [{ name: "f" }] }],
  ["tools[1].name", { tools: [f, { type: "function", name: "two words" }] }],
  ["tools[0].parameters", { tools: [{ ...f, parameters: "{}" }] }],
  ["tools[0].name", { tools: [{ type: "custom" }] }],
  [
    "tools[0].format.syntax",
    { tools: [{ type: "custom", name: "a", format: { ...grammar, syntax: "ebnf" } }] },
  ],
  [
    "tools[0].tools[0].name",
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: " " }] }] },
  ],
  [
    "tools",
    { tools: [f, { type: "namespace", name: "n", tools: Array.from({ length: toolsMax }, () => f) }] },
  ],
  ["tool_choice", { tools: [{ type: "namespace", name: "n", tools: [f] }], tool_choice: f }],
  ["tool_choice", { tools: [{ type: "namespace", name: "n", tools: [] }], tool_choice: "required" }],
  ["tool_choice", { tool_choice: "always" }],
  ["tool_choice", { tool_choice: "required" }],
  ["tool_choice", { tool_choice: f }],
  ["tool_choice", { tools: [f], tool_choice: { type: "function", name: "g" } }],
  [
    "tool_choice",
    { tools: [f], tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ ...f, name: "g" }] } },
  ],
  ["tool_choice.type", { tools: [f], tool_choice: { type: "web_search" } }],
  ["tool_choice.mode", { tools: [f], tool_choice: { type: "allowed_tools", tools: [f] } }],
  ["tool_choice.tools", { tools: [f], tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } }],
  ["parallel_tool_calls", { parallel_tool_calls: "yes" }],
  ["reasoning", { reasoning: "high" }],
  ["reasoning.effort", { reasoning: { effort: "enormous" } }],
  ["reasoning.summary", { reasoning: { summary: "short" } }],
  ["chat_template_kwargs", { chat_template_kwargs: { messages: "x" } }],
  ["stream", { stream: "true" }],
  ["metadata", { metadata: [] }],
  ["metadata.a", { metadata: { a: 1 } }],
  ["metadata.a", { metadata: { a: "x".repeat(metadataValueMax + 1) } }],
  [
    "metadata",
    { metadata: Object.fromEntries(Array.from({ length: metadataMax + 1 }, (_, i) => [`a${i}`, ""])) },
  ],
  ["user", { user: 5 }],
  ["safety_identifier", { safety_identifier: "x".repeat(userLengthMax + 1) }],
  ["prompt_cache_key", { prompt_cache_key: {} }],
  ["truncation", { truncation: "middle" }],
  ["store", { store: "yes" }],
  ["previous_response_id", { previous_response_id: 5 }],
  ["previous_response_id", { previous_response_id: "x".repeat(storedIdLengthMax + 1) }],
  ["conversation.id", { conversation: {} }],
  ["conversation", { conversation: "x".repeat(storedIdLengthMax + 1) }],
  ["conversation", { conversation: "conv_1", previous_response_id: "resp_1" }],
  ["prompt", { prompt: { id: "pmpt_1" } }],
  ["background", { background: 1 }],
  ["background", { background: true, store: false }],
];

test.each(bad)("refuses a bad %s (%#) and names the field and its rule", (param, body) => {
  const problem = findProblem(body);
  expect(problem?.param).toBe(param);
  expect(problem?.message).not.toMatch(/^(?:Invalid|Too|Unrecognized)/); // That is how the schema library speaks.
});

describe("what the server does not have", () => {
  test.each([
    [{ tools: [{ type: "web_search" }], tool_choice: "required" }, /tool_choice needs tools/],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, /send the item itself/],
    [{ input: [{ type: "compaction", encrypted_content: "x" }] }, /compaction item can only be read by/],
    [{ prompt: { id: "pmpt_1" } }, /no stored prompts/],
    [{ background: true, store: false }, /needs store/],
  ])("is refused with a reason: %j", (body, reason) => {
    expect(findProblem(body)?.message).toMatch(reason);
  });

  test("is named with a bounded part of what was sent, whatever that was", () => {
    for (const type of ["x".repeat(1_000_000), "__proto__", "constructor", "\u0000"]) {
      expect(findProblem({ tools: [{ type }] })?.message.length ?? 0).toBeLessThan(600);
      expect(findProblem({ input: [{ type }] })?.message.length).toBeLessThan(600);
    }
  });
});

test("millions of parts are one problem, told at once", () => {
  const part = (count: number) => ({ role: "user", content: Array.from({ length: count }, () => 0) });
  const wrong = Array.from({ length: messagesMax }, () => part(partsMax));
  const begin = performance.now();
  const issues = ResponsesRequest.safeParse({ ...minimal, input: wrong }).error?.issues;
  expect(issues).toMatchObject([{ path: ["input"], message: expect.stringContaining(`${partsOfAllMax}`) }]);
  expect(performance.now() - begin).toBeLessThan(2_000);
  const content = Array.from({ length: partsMax }, () => text);
  const most = Array.from({ length: partsOfAllMax / partsMax }, () => ({ role: "user", content }));
  expect(findProblem({ input: most })).toBeUndefined();
  expect(findProblem({ input: [...most, { role: "user", content: [text] }] })?.param).toBe("input");
});

test("a name in metadata may have only so many characters", () => {
  expect(findProblem({ metadata: { ["x".repeat(metadataNameMax)]: "" } })).toBeUndefined();
  expect(findProblem({ metadata: { ["x".repeat(metadataNameMax + 1)]: "" } })?.message).toMatch(
    /^metadata must/,
  );
});

test("any JSON value at all either parses or gives a problem that can be told", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (body, input) => {
      for (const each of [body, { ...minimal, input }, { ...minimal, input: [input] }]) {
        const { error } = ResponsesRequest.safeParse(each);
        expect(error === undefined || firstIssue(error).message !== "").toBe(true);
      }
    }),
  );
});

test("requests, answers and events can be described as JSON Schema", () => {
  const request = z.toJSONSchema(ResponsesRequest, { io: "input" });
  expect(request.$defs?.["ResponsesRequest"]).toMatchObject({ type: "object" });
  expect(z.toJSONSchema(ResponseObject).$defs).toHaveProperty("ResponsesOutputItem");
  expect(z.toJSONSchema(ResponsesEvent).$defs).toHaveProperty("ResponseObject");
});
