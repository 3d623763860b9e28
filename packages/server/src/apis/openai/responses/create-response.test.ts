import { ResponsesRequest, type ResponsesBody } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { toResponsesRequest } from "./create-response.ts";

function convert(body: Partial<ResponsesBody>) {
  return toResponsesRequest(ResponsesRequest.parse({ model: "m", input: "Hi", ...body }));
}

function convertMessages(input: ResponsesBody["input"], instructions?: string) {
  return convert({ input, instructions }).messages;
}

const user = { role: "user" as const, content: "Weather?" };
const call = (id: string, text = '{"city":"Rome"}') => ({
  type: "function_call" as const,
  call_id: id,
  name: "weather",
  arguments: text,
});
const output = (id: string) => ({ type: "function_call_output" as const, call_id: id, output: "Sunny" });
const thought = (text: string) => ({
  type: "reasoning" as const,
  summary: [],
  content: [{ type: "reasoning_text" as const, text }],
});
const said = (text: string) => ({
  type: "message" as const,
  role: "assistant" as const,
  content: [{ type: "output_text" as const, text, annotations: [] }],
});
const toolCall = (id: string) => ({ id, name: "weather", arguments: '{"city":"Rome"}' });

describe("settings", () => {
  it("have the engine's names", () => {
    expect(
      convert({
        temperature: 0,
        max_output_tokens: 7,
        top_k: 0,
        repeat_penalty: 1.2,
        stop: "x",
        cache_prompt: false,
        ignore_eos: true,
        parallel_tool_calls: false,
      }),
    ).toMatchObject({
      temperature: 0,
      maxTokens: 7,
      topK: 0,
      repeatPenalty: 1.2,
      stop: ["x"],
      cachePrompt: false,
      ignoreEos: true,
      parallelToolCalls: false,
    });
    expect(convert({}).topK).toBeUndefined();
  });

  it("are not taken from the names that a chat has for them, which nobody has checked", () => {
    expect(convert({ max_tokens: "many" }).maxTokens).toBeUndefined();
    expect(convert({ max_completion_tokens: 3, max_output_tokens: -1 }).maxTokens).toBe(-1);
  });

  it("ask for probabilities by name or by number", () => {
    expect(convert({}).logprobs).toBeUndefined();
    expect(convert({ include: ["reasoning.encrypted_content"], top_logprobs: 0 }).logprobs).toBeUndefined();
    expect(convert({ include: ["message.output_text.logprobs"] }).logprobs).toBe(0);
    expect(convert({ top_logprobs: 3 }).logprobs).toBe(3);
  });

  it("say the form of the text", () => {
    const schema = { type: "object" };
    expect(convert({}).responseFormat).toBeUndefined();
    expect(convert({ text: { format: { type: "text" } } }).responseFormat).toBeUndefined();
    expect(convert({ text: { format: { type: "json_object" } } }).responseFormat).toEqual({ type: "json" });
    const format = { type: "json_schema" as const, name: "a", schema, strict: true };
    expect(convert({ text: { format } }).responseFormat).toEqual({
      type: "json_schema",
      schema,
      strict: true,
    });
  });

  it("say how much to think", () => {
    expect(convert({ reasoning: { effort: "none" } })).toMatchObject({ thinking: false });
    expect(convert({ reasoning: { effort: "max" } })).toMatchObject({
      thinking: true,
      templateArguments: { reasoning_effort: "high" },
    });
    expect(convert({ chat_template_kwargs: { enable_thinking: false } })).toMatchObject({ thinking: false });
  });
});

describe("tools", () => {
  const tools = ["a", "b"].map((name) => ({ type: "function" as const, name }));
  const choose = (tool_choice: ResponsesBody["tool_choice"]) => convert({ tools, tool_choice });

  it("may be called as the choice says", () => {
    expect(choose("required")).toMatchObject({
      tools: [{ name: "a" }, { name: "b" }],
      toolChoice: "required",
    });
    expect(choose({ type: "function", name: "b" })).toMatchObject({ toolChoice: { name: "b" } });
    expect(choose(null)).toMatchObject({ toolChoice: undefined });
  });

  it("that are not allowed are not told to the model", () => {
    const allowed = { type: "allowed_tools" as const, mode: "required" as const, tools: [tools[1]!] };
    expect(choose(allowed)).toMatchObject({ tools: [{ name: "b" }], toolChoice: "required" });
    expect(choose(allowed)).not.toMatchObject({ tools: [{ name: "a" }] });
  });
});

describe("input", () => {
  it("that is a text is the user's", () => {
    expect(convertMessages("Hi")).toEqual([{ role: "user", content: "Hi" }]);
  });

  it("follows the instructions, which stand in one message with its system's", () => {
    expect(convertMessages("Hi", "Be brief.")).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ]);
    expect(convertMessages([{ role: "developer", content: "Rhyme." }, user], "Be brief.")).toEqual([
      { role: "system", content: "Be brief.\n\nRhyme." },
      user,
    ]);
  });

  it("joins what one turn thought, said and called", () => {
    const items = [
      user,
      thought("Rome?"),
      said("Let me look."),
      call("1"),
      call("2"),
      output("1"),
      output("2"),
    ];
    expect(convertMessages(items)).toEqual([
      user,
      {
        role: "assistant",
        content: "Let me look.",
        reasoning: "Rome?",
        toolCalls: [toolCall("1"), toolCall("2")],
      },
      { role: "tool", content: "Sunny", toolCallId: "1" },
      { role: "tool", content: "Sunny", toolCallId: "2" },
    ]);
  });

  it("keeps the turns apart that are several", () => {
    const items = [
      user,
      call("1"),
      output("1"),
      call("2"),
      output("2"),
      said("Sunny."),
      said("Bye."),
      thought("Hm"),
    ];
    expect(convertMessages(items)).toEqual([
      user,
      { role: "assistant", content: "", toolCalls: [toolCall("1")] },
      { role: "tool", content: "Sunny", toolCallId: "1" },
      { role: "assistant", content: "", toolCalls: [toolCall("2")] },
      { role: "tool", content: "Sunny", toolCallId: "2" },
      { role: "assistant", content: "Sunny." },
      { role: "assistant", content: "Bye." },
      { role: "assistant", content: "", reasoning: "Hm" },
    ]);
  });

  it("takes the summary of what was thought where there is nothing else", () => {
    const summary = [{ type: "summary_text" as const, text: "In short" }];
    expect(convertMessages([{ type: "reasoning", summary }, said("Yes.")])).toEqual([
      { role: "assistant", content: "Yes.", reasoning: "In short" },
    ]);
  });

  it("joins the texts of its parts line by line", () => {
    const content = [
      { type: "input_text" as const, text: "one" },
      { type: "refusal" as const, refusal: "two" },
    ];
    expect(convertMessages([{ role: "user", content }])).toEqual([{ role: "user", content: "one\ntwo" }]);
  });

  it("keeps an image in its place, by its URL", () => {
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,AAAA", detail: "auto" };
    const items = [
      user,
      { role: "user" as const, content: [{ type: "input_text" as const, text: "?" }, image] },
    ];
    const named = (place: string) => ({
      type: "image",
      url: image.image_url,
      place,
      param: `${place}.image_url`,
    });
    const content = [{ type: "text", text: "?" }, named("input[1].content[1]")];
    expect(convertMessages(items)?.at(-1)).toEqual({ role: "user", content });
    expect(convertMessages([{ ...output("1"), output: [image] }])?.[0]).toMatchObject({
      role: "tool",
      content: [named("input[0].output[0]")],
    });
  });

  it("takes calls back whose arguments a limit has cut, as the text they are", () => {
    const cut = '{"city": "Ro';
    const convertArguments = (text: string) =>
      convertMessages([call("1", text)])[0]?.toolCalls?.[0]?.arguments;
    expect(JSON.parse(convertArguments(cut) ?? "")).toEqual({ arguments: cut });
    expect(JSON.parse(convertArguments("[1]") ?? "")).toEqual({ arguments: "[1]" });
    expect(convertArguments("")).toBe("{}");
  });
});
