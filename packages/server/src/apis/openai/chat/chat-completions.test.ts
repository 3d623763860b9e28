import { ChatCompletionRequest, type ChatCompletionBody } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { toChatRequest } from "./chat-completions.ts";

const messages: ChatCompletionBody["messages"] = [{ role: "user", content: "Hi" }];

function convert(body: Partial<ChatCompletionBody>) {
  return toChatRequest(ChatCompletionRequest.parse({ model: "m", messages, ...body }));
}

describe("sampling", () => {
  it("has the engine's names", () => {
    expect(
      convert({
        temperature: 0,
        top_p: 0.5,
        min_p: 0.1,
        top_k: 0,
        repeat_last_n: 0,
        presence_penalty: 1,
        frequency_penalty: -1,
        seed: 0,
        logit_bias: { "5": -100 },
        ignore_eos: true,
      }),
    ).toMatchObject({
      temperature: 0,
      topP: 0.5,
      minP: 0.1,
      topK: 0,
      repeatLastN: 0,
      presencePenalty: 1,
      frequencyPenalty: -1,
      seed: 0,
      logitBias: { "5": -100 },
      ignoreEos: true,
    });
  });

  it("takes both names of the repetition penalty", () => {
    expect(convert({ repeat_penalty: 1.1 }).repeatPenalty).toBe(1.1);
    expect(convert({ repetition_penalty: 1.2 }).repeatPenalty).toBe(1.2);
  });

  it("lets max_completion_tokens win, and reads -1 as no limit", () => {
    expect(convert({ max_tokens: 5 }).maxTokens).toBe(5);
    expect(convert({ max_tokens: 5, max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(convert({ max_tokens: -1 }).maxTokens).toBe(-1);
    expect(convert({ max_tokens: 5, max_completion_tokens: -1 }).maxTokens).toBe(-1);
    expect(convert({}).maxTokens).toBeUndefined();
  });

  it("takes one stop string or several", () => {
    expect(convert({ stop: "a" }).stop).toEqual(["a"]);
    expect(convert({ stop: ["a", "b"] }).stop).toEqual(["a", "b"]);
    expect(convert({ stop: null }).stop).toBeUndefined();
  });
});

describe("messages", () => {
  it("join the text of their parts line by line", () => {
    const content = [
      { type: "text" as const, text: "one" },
      { type: "text" as const, text: "two" },
    ];
    expect(convert({ messages: [{ role: "user", content }] }).messages).toEqual([
      { role: "user", content: "one\ntwo" },
    ]);
  });

  it("of a developer are the system's", () => {
    expect(
      convert({ messages: [{ role: "developer", content: "Be brief." }, ...messages] }).messages?.[0],
    ).toEqual({
      role: "system",
      content: "Be brief.",
    });
  });

  it("keep an image in its place, by its URL", () => {
    const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } };
    const content = [{ type: "text" as const, text: "What is this?" }, image];
    const [place, url] = ["messages[0].content[1]", image.image_url.url];
    expect(convert({ messages: [{ role: "user", content }] }).messages).toEqual([
      { role: "user", content: [content[0], { type: "image", url, place, param: `${place}.image_url.url` }] },
    ]);
  });
});
