import { generationOptions } from "@ingle/generation-options";
import { describe, expect, test } from "vitest";

import { userLengthMax } from "../fields/request-fields.ts";
import { firstIssue } from "../request-issue.ts";
import { CountTokensRequest, MessagesRequest } from "./request.ts";

const hello = { role: "user", content: "Hello" };
const minimal = { model: "tiny", max_tokens: 5, messages: [hello] };
const weather = { name: "get_weather", input_schema: { type: "object" } };
const schema = { type: "json_schema", schema: { type: "object" } };
const call = { type: "tool_use", id: "call_1", name: "get_weather", input: { city: "Rome" } };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };

const of = (role: string, ...content: unknown[]) => ({ messages: [{ role, content }, hello] });

/** The field and the sentence that a wrong body is answered with. */
function findProblem(
  body: object,
  request: typeof MessagesRequest | typeof CountTokensRequest = MessagesRequest,
) {
  const result = request.safeParse({ ...minimal, ...body });
  return result.success ? undefined : firstIssue(result.error);
}

describe("a messages request", () => {
  test.each<[string, object]>([
    [
      "every field at once",
      {
        system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
        stop_sequences: ["\n\nHuman:"],
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        seed: 1,
        stream: true,
        tools: [{ ...weather, type: "custom", description: "…", cache_control: { type: "ephemeral" } }],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
        thinking: { type: "enabled", budget_tokens: 1024 },
        output_config: { effort: "max" },
        metadata: { user_id: "somebody" },
        service_tier: "auto",
      },
    ],
    [
      "every kind of block",
      {
        messages: [
          { role: "user", content: [{ type: "text", text: "Hi" }, image] },
          {
            role: "user",
            content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }],
          },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Hm.", signature: "abc" },
              { type: "redacted_thinking", data: "xyz" },
              { type: "text", text: "Let me see.", citations: null },
              call,
            ],
          },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "call_1",
                content: [{ type: "text", text: "Sunny." }, image],
              },
              { type: "tool_result", tool_use_id: "call_2", is_error: true },
            ],
          },
          { role: "system", content: "Be brief." },
          { role: "assistant", content: [] },
        ],
      },
    ],
    [
      "null for absent",
      { system: null, tools: null, thinking: null, temperature: null, metadata: { user_id: null } },
    ],
    [
      "a form beside tools that are not called",
      { output_config: { format: schema }, tools: [weather], tool_choice: { type: "none" } },
    ],
    ["the older place of a form", { output_format: schema }],
    [
      "tools of other kinds",
      { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }, weather] },
    ],
  ])("with %s is taken", (_, body) => {
    expect(findProblem(body)).toBeUndefined();
  });

  test.each<[object, string, RegExp?]>([
    [{ max_tokens: undefined }, "max_tokens"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_tokens: -1 }, "max_tokens"],
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "tool", content: "x" }] }, "messages[0].role", /user, assistant or system/],
    [{ messages: [{ role: "user", content: 5 }] }, "messages[0].content"],
    [
      of("user", { type: "video" }),
      "messages[0].content[0].type",
      /text, image, document, search_result or tool_result, not "video"/,
    ],
    [of("user", call), "messages[0].content[0].type", /not "tool_use"/],
    [of("user", "text"), "messages[0].content[0]", /must be an object/],
    [
      of("user", { type: "image", source: { type: "file", file_id: "f" } }),
      "messages[0].content[0].source.type",
    ],
    [of("user", { type: "tool_result" }), "messages[0].content[0].tool_use_id"],
    [
      of("user", { type: "tool_result", tool_use_id: "c", content: [call] }),
      "messages[0].content[0].content[0].type",
    ],
    [of("assistant", image), "messages[0].content[0].type"],
    [of("assistant", { ...call, input: "{}" }), "messages[0].content[0].input", /must be an object/],
    [of("assistant", { ...call, input: [] }), "messages[0].content[0].input"],
    [{ messages: [hello, { role: "assistant", content: [call] }] }, "messages", /tool_result/],
    [{ system: [image] }, "system[0].type"],
    [{ stop_sequences: "END" }, "stop_sequences"],
    [{ stop_sequences: Array.from({ length: generationOptions.stop.max + 1 }, () => "a") }, "stop_sequences"],
    [{ temperature: -0.1 }, "temperature"],
    [{ top_p: 1.1 }, "top_p"],
    [
      of("user", {
        type: "document",
        source: { type: "url", url: "https://example.org/a.pdf" },
      }),
      "messages[0].content[0].source.type",
      /neither fetched nor uploaded/,
    ],
    [{ tools: [{ type: 5, ...weather }] }, "tools[0].type", /must be custom/],
    [{ tools: [{ type: "custom", name: "f" }] }, "tools[0].input_schema"],
    [{ tools: ["f"] }, "tools[0]", /must be an object/],
    [{ tools: [{ type: "bash_20250124", name: "bash" }], tool_choice: { type: "any" } }, "tool_choice"],
    [
      {
        tools: [weather, { type: "bash_20250124", name: "bash" }],
        tool_choice: { type: "tool", name: "bash" },
      },
      "tool_choice",
    ],
    [{ tools: [{ name: "f" }] }, "tools[0].input_schema"],
    [{ tools: [{ ...weather, name: "no spaces" }] }, "tools[0].name"],
    [{ tool_choice: { type: "any" } }, "tool_choice", /needs tools/],
    [{ tool_choice: { type: "tool", name: "other" }, tools: [weather] }, "tool_choice"],
    [{ tool_choice: "auto" }, "tool_choice"],
    [{ tool_choice: { type: "required" }, tools: [weather] }, "tool_choice.type"],
    [{ thinking: { type: "sometimes" } }, "thinking.type"],
    [{ thinking: { type: "enabled", budget_tokens: 0 } }, "thinking.budget_tokens"],
    [{ output_config: { effort: "huge" } }, "output_config.effort"],
    [{ output_config: { format: { type: "json_object" } } }, "output_config.format.type"],
    [{ output_config: { format: { type: "json_schema" } } }, "output_config.format.schema"],
    [{ metadata: { user_id: "x".repeat(userLengthMax + 1) } }, "metadata.user_id"],
    [{ repeat_penalty: 1.1, repetition_penalty: 1.2 }, "repetition_penalty"],
  ])("%j is refused for %s", (body, param, message = /./) => {
    expect(findProblem(body)).toEqual({ param, message: expect.stringMatching(message) });
  });

  test("says the type of a block in a bounded way", () => {
    const { message = "" } = findProblem(of("user", { type: "x".repeat(10_000) })) ?? {};
    expect(message.length).toBeLessThan(250);
  });
});

describe("a request to count tokens", () => {
  test("needs nothing that only the reply needs, and does not look at it", () => {
    expect(findProblem({ max_tokens: undefined, temperature: -1 }, CountTokensRequest)).toBeUndefined();
  });

  test("has the same rules for what makes the prompt", () => {
    expect(findProblem({ messages: [] }, CountTokensRequest)?.param).toBe("messages");
    expect(findProblem({ tool_choice: { type: "any" } }, CountTokensRequest)?.param).toBe("tool_choice");
  });
});
