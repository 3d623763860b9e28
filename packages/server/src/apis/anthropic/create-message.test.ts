import { CountTokensRequest, MessagesRequest } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { toMessagesRequest, toPromptRequest } from "./create-message.ts";

const hello = { role: "user", content: "Hi" };
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };

function convert(body: object) {
  const request = { model: "m", max_tokens: 9, messages: [hello], ...body };
  return toMessagesRequest(MessagesRequest.parse(request));
}

/** The engine's messages of some turns. */
const convertMessages = (...messages: object[]) => convert({ messages }).messages;
const text = (...texts: string[]) => texts.map((each) => ({ type: "text", text: each }));

describe("sampling", () => {
  it("has the engine's names", () => {
    const body = {
      max_tokens: 7,
      stop_sequences: ["a", "b"],
      temperature: 0,
      top_p: 0.5,
      seed: 3,
      min_p: 0.1,
    };
    expect(convert(body)).toMatchObject({
      maxTokens: 7,
      stop: ["a", "b"],
      temperature: 0,
      topP: 0.5,
      seed: 3,
      minP: 0.1,
    });
  });

  it("does not know the limits and the stops of other shapes", () => {
    expect(convert({ max_completion_tokens: 1, stop: "x" })).toMatchObject({ maxTokens: 9, stop: undefined });
  });
});

describe("turns", () => {
  it("begin with the system prompt, unless it is empty", () => {
    expect(convert({ system: text("one", "two") }).messages).toEqual([
      { role: "system", content: "one\ntwo" },
      hello,
    ]);
    expect(convert({ system: "" }).messages).toEqual([hello]);
  });

  it("of one role in a row are one", () => {
    const said = { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }, ...text("Yes.")] };
    const call = { type: "tool_use", id: "c", name: "f", input: {} };
    expect(
      convertMessages(
        hello,
        { role: "user", content: text("there", "now") },
        said,
        { role: "assistant", content: [call] },
        hello,
      ),
    ).toEqual([
      { role: "user", content: "Hi\nthere\nnow" },
      {
        role: "assistant",
        content: "Yes.",
        reasoning: "Hm.",
        toolCalls: [{ id: "c", name: "f", arguments: "{}" }],
      },
      hello,
    ]);
  });

  it("with results have them first, each by itself, and a failure says that it is one", () => {
    const content = [
      ...text("And now?"),
      { type: "tool_result", tool_use_id: "a", content: text("Sunny", "and warm") },
      { type: "tool_result", tool_use_id: "b", content: "No such city", is_error: true },
      { type: "tool_result", tool_use_id: "c" },
    ];
    expect(convertMessages({ role: "user", content })).toEqual([
      { role: "tool", toolCallId: "a", content: "Sunny\nand warm" },
      { role: "tool", toolCallId: "b", content: "Error: No such city" },
      { role: "tool", toolCallId: "c", content: "" },
      { role: "user", content: "And now?" },
    ]);
    expect(convertMessages({ role: "user", content: content.slice(3) })).toHaveLength(1);
  });

  it("leave out thoughts that nobody here can read", () => {
    const content = [{ type: "redacted_thinking", data: "x" }, ...text("Yes.")];
    expect(convertMessages(hello, { role: "assistant", content }, hello)?.[1]).toEqual({
      role: "assistant",
      content: "Yes.",
    });
  });

  it("keep images in their place, by the URL that their data would have", () => {
    const named = (place: string) => ({
      type: "image",
      url: "data:image/png;base64,AAAA",
      place,
      param: `${place}.source.data`,
    });
    const result = { type: "tool_result", tool_use_id: "a", content: [image], is_error: true };
    const byUrl = { type: "image", source: { type: "url", url: "https://images.example/a.png" } };
    const [what, which] = text("What is this?", "And this?");
    const messages = [
      { role: "user", content: [what, image] },
      { role: "user", content: [which, byUrl] },
      { role: "assistant", content: "A duck." },
      { role: "user", content: [result] },
    ];
    const place = "messages[1].content[1]";
    expect(convertMessages(...messages)).toEqual([
      {
        role: "user",
        content: [
          what,
          named("messages[0].content[1]"),
          which,
          { type: "image", url: byUrl.source.url, place, param: `${place}.source.url` },
        ],
      },
      { role: "assistant", content: "A duck." },
      {
        role: "tool",
        toolCallId: "a",
        content: [{ type: "text", text: "Error: " }, named("messages[3].content[0].content[0]")],
      },
    ]);
  });
});

describe("a last turn of the assistant", () => {
  it("is the beginning of the reply", () => {
    const begun = { role: "assistant", content: "The answer is (" };
    expect(convert({ messages: [hello, begun] })).toMatchObject({
      messages: [hello, begun],
      continueFinalMessage: true,
    });
    expect(convert({}).continueFinalMessage).toBeUndefined();
  });

  it("that is empty begins nothing, and is not alone", () => {
    for (const content of ["", [], text("")]) {
      const request = convert({ messages: [hello, { role: "assistant", content }] });
      expect(request.messages).toEqual([hello]);
      expect(request).not.toHaveProperty("continueFinalMessage");
      expect(() => convertMessages({ role: "assistant", content })).toThrow(
        expect.objectContaining({ code: "invalid_request", details: { param: "messages" } }),
      );
    }
  });
});

describe("tools", () => {
  const tools = [{ name: "f", description: "Does it.", input_schema: { type: "object" } }];

  it("have the engine's names", () => {
    expect(convert({ tools })).toMatchObject({
      tools: [{ name: "f", description: "Does it.", parameters: { type: "object" } }],
    });
  });

  it.each([
    [{ type: "auto" }, { toolChoice: "auto", parallelToolCalls: true }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { toolChoice: "required", parallelToolCalls: false },
    ],
    [
      { type: "tool", name: "f" },
      { toolChoice: { name: "f" }, parallelToolCalls: true },
    ],
    [{ type: "none" }, { toolChoice: "none" }],
  ])("are chosen by %j", (tool_choice, expected) => {
    expect(convert({ tools, tool_choice })).toMatchObject(expected);
  });
});

describe("thinking and the form of the reply", () => {
  it("is not asked for unless the request does", () => {
    expect(convert({}).thinking).toBe(false);
    expect(convert({ thinking: { type: "disabled" } }).thinking).toBe(false);
    expect(convert({ thinking: { type: "adaptive" } }).thinking).toBe(true);
    expect(convert({ thinking: { type: "enabled", budget_tokens: 5 } }).thinking).toBe(true);
    expect(convert({ output_config: { effort: "max" } })).toMatchObject({
      templateArguments: { reasoning_effort: "high" },
    });
  });

  it("is the schema's, strictly; the newer place wins", () => {
    const format = (title: string) => ({ type: "json_schema", schema: { title } });
    const body = { output_config: { format: format("new") }, output_format: format("old") };
    expect(convert(body).responseFormat).toEqual({
      type: "json_schema",
      schema: { title: "new" },
      strict: true,
    });
    expect(convert({ output_format: format("old") }).responseFormat).toMatchObject({
      schema: { title: "old" },
    });
  });
});

it("a request to count tokens makes the same prompt", () => {
  const body = { model: "m", system: "Be brief.", messages: [hello], thinking: { type: "enabled" } };
  const { messages, thinking } = convert(body);
  expect(toPromptRequest(CountTokensRequest.parse(body))).toMatchObject({ messages, thinking });
});
