// Whatever body is sent to the endpoints with Anthropic's format, it gets a valid response or an error, and the server continues.
import { AnthropicMessage, anthropicErrorType, MessageStreamEvent, TokenCount } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { scriptedId, scriptedServer } from "./harness/scripted-server.ts";
import { expectSoundResponses, type EndpointUnderTest } from "./hostile-bodies.ts";

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const cache_control = { type: "ephemeral" };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const hello = { role: "user", content: [{ type: "text", text: "Hi", cache_control }] };
const tool = { name: "f", description: "Does it.", input_schema: { type: "object" }, cache_control };

const prompt = {
  model: scriptedId,
  system: [{ type: "text", text: "Be brief.", cache_control }],
  messages: [
    hello,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "" },
        { type: "redacted_thinking", data: "x" },
        { type: "tool_use", id: "a", name: "f", input: { b: [1] } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "c" }], is_error: true },
      ],
    },
    { role: "assistant", content: "So" },
  ],
  tools: [tool],
  tool_choice: { type: "none" },
  thinking: { type: "enabled", budget_tokens: 5 },
  output_config: { effort: "low", format: { type: "json_schema", schema: { type: "object" } } },
  output_format: { type: "json_schema", schema: { type: "string" } },
};

const border = {
  stream: [true],
  tool_choice: [{ type: "auto" }, { type: "any" }, { type: "tool", name: "f" }, { type: "tool", name: "g" }],
  tools: [[], [tool, tool], many(512, tool), many(513, tool), [{ type: "bash_20250124", name: "bash" }]],
  messages: [
    [hello],
    [{ role: "user", content: [image] }],
    [{ role: "assistant", content: [] }],
    many(10_000, hello),
    many(10_001, hello),
    many(1_000_000, 1),
  ],
};

const endpoints: EndpointUnderTest[] = [
  {
    path: "/v1/messages",
    body: {
      ...prompt,
      max_tokens: 4,
      stop_sequences: ["one", "two"],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      min_p: 0.1,
      seed: 7,
      logit_bias: { "5": 1 },
      repeat_penalty: 1.1,
      stream: false,
      metadata: { user_id: "somebody" },
    },
    response: AnthropicMessage,
    event: MessageStreamEvent,
    errorType: anthropicErrorType,
    border,
  },
  {
    path: "/v1/messages/count_tokens",
    body: prompt,
    response: TokenCount,
    errorType: anthropicErrorType,
    border,
  },
];

describe.each(endpoints)("$path", (endpoint) => {
  it("answers every body with a valid response or a documented error, and continues", async () => {
    await using scripted = await scriptedServer();
    await expectSoundResponses(scripted.server.url, endpoint);
    await expect.poll(() => scripted.log.running.size).toBe(0);
  });
});
