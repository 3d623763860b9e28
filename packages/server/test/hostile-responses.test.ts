// Whatever body is sent to /v1/responses, it gets a valid response or an error, and the server continues.
import { InputTokenCount, ResponseObject, ResponsesEvent } from "@ingle/protocol";
import { expect, it } from "vitest";
import { scriptedId, scriptedServer } from "./harness/scripted-server.ts";
import { expectSoundResponses, type EndpointUnderTest } from "./hostile-bodies.ts";

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const hello = { role: "user", content: [{ type: "input_text", text: "Hi" }] };
const image = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" };
const tool = {
  type: "function",
  name: "f",
  description: "Does it.",
  parameters: { type: "object" },
  strict: true,
};
const call = { type: "function_call", id: "fc_1", call_id: "a", name: "f", arguments: '{"b":[1]}' };

const endpoint: EndpointUnderTest = {
  path: "/v1/responses",
  body: {
    model: scriptedId,
    instructions: "Be brief.",
    input: [
      { type: "message", ...hello },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm" }], content: null },
      { role: "assistant", id: "msg_1", content: [{ type: "output_text", text: "So", annotations: [] }] },
      call,
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "c" }] },
      { type: "reasoning", content: [{ type: "reasoning_text", text: "Hm" }] },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    ],
    max_output_tokens: 4,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    min_p: 0.1,
    repeat_penalty: 1.1,
    repetition_penalty: 1.1,
    repeat_last_n: 10,
    presence_penalty: 0.5,
    frequency_penalty: 0.5,
    stop: ["one", "two"],
    seed: 7,
    logit_bias: { "5": 1 },
    include: ["message.output_text.logprobs"],
    top_logprobs: 2,
    text: { format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true } },
    tools: [tool],
    tool_choice: "none",
    parallel_tool_calls: false,
    reasoning: { effort: "low", summary: "auto" },
    chat_template_kwargs: { enable_thinking: false },
    stream: false,
    cache_prompt: true,
    ignore_eos: false,
    metadata: { a: "b" },
    user: "somebody",
    safety_identifier: "x",
    prompt_cache_key: "y",
    truncation: "auto",
    store: true,
    previous_response_id: null,
    conversation: null,
    prompt: null,
    background: false,
  },
  response: ResponseObject.strict(),
  event: ResponsesEvent,
  border: {
    stream: [true],
    text: [null, { format: { type: "json_object" } }, { format: { type: "text" } }],
    tool_choice: ["auto", "required", tool, { type: "allowed_tools", mode: "auto", tools: [tool] }],
    tools: [
      [],
      [tool, tool],
      many(512, tool),
      many(513, tool),
      [{ type: "web_search" }],
      [{ type: "custom", name: "patch", format: { type: "grammar", syntax: "regex", definition: "a" } }],
      [{ type: "namespace", name: "n", tools: [tool, { type: "custom", name: "patch" }, { type: "mcp" }] }],
      many(512, { type: "namespace", name: "n", tools: many(100, tool) }),
    ],
    metadata: [Object.fromEntries(many(17, 0).map((_, index) => [`${index}`, ""])), { a: "x".repeat(513) }],
    input: [
      "Hi",
      "",
      [hello],
      [call],
      [{ role: "user", content: [image] }],
      [{ ...call, arguments: `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}` }],
      many(10_000, hello),
      many(10_001, hello),
      many(1_000_000, 1),
      many(9_000, { role: "user", content: many(100, 0) }),
    ],
  },
};

it("/v1/responses/input_tokens does so too", async () => {
  await using scripted = await scriptedServer();
  const { path, event: _none, ...rest } = endpoint;
  await expectSoundResponses(scripted.server.url, {
    ...rest,
    path: `${path}/input_tokens`,
    response: InputTokenCount.strict(),
  });
});

it("/v1/responses answers every body with a valid response or a documented error, and continues", async () => {
  await using scripted = await scriptedServer();
  await expectSoundResponses(scripted.server.url, endpoint);
  await expect.poll(() => scripted.log.running.size).toBe(0);
});
