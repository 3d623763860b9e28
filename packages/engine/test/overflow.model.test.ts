// Chats that are too long for their context: they end, or drop their oldest turns and continue, and no other request's text changes.
import type { Message, GenerationResult, LoadedModel, LoadOptions } from "@ingle/engine";
import { exactArithmetic, type tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const contextLength = 128;
/** Every message ends with the tiny models' end token. */
const chatTemplate =
  "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '</s>' }}{% endfor %}" +
  "{% if add_generation_prompt %}assistant: {% endif %}";
const system: Message = { role: "system", content: "You are a patient guide through the harbour at night." };

async function loadChat(
  options: LoadOptions = exactArithmetic,
  fixture: Parameters<typeof tinyModel>[0] = {},
): Promise<LoadedModel> {
  return loadTiny({ contextLength, ...options }, { chatTemplate, ...fixture });
}

/** A chat of the system message and this many messages, the last one by the user. */
function chat(messages: number): Message[] {
  return [
    system,
    ...Array.from({ length: messages }, (_, index) => ({
      role: (messages - index) % 2 === 1 ? ("user" as const) : ("assistant" as const),
      content: `Lantern ${index} is seen from the pier, and the bell rings ${index} times.`,
    })),
  ];
}

describe("the context's end", () => {
  let ending: LoadedModel;
  let shifting: LoadedModel;
  beforeAll(async () => {
    ending = await loadChat();
    shifting = await loadChat({ ...exactArithmetic, contextOverflow: "shift", parallel: 4 });
  });
  afterAll(async () => {
    await ending[Symbol.asyncDispose]();
    await shifting[Symbol.asyncDispose]();
  });

  async function ask({ model }: LoadedModel, messages: Message[], extra = {}): Promise<GenerationResult> {
    return await model.generate({ messages, temperature: 0, ...extra });
  }

  it("ends a reply with `length` by default, and longer prompts are refused", async () => {
    const result = await ask(ending, chat(1), { maxTokens: 300 });
    expect(result.finishReason).toBe("length");
    expect(result.usage.promptTokens + result.usage.completionTokens).toBe(contextLength);
    expect(result.usage.droppedTokens).toBe(0);
    await expect(ask(ending, chat(9))).rejects.toMatchObject({ code: "context_length_exceeded" });
  });

  it("is passed several times with `shift`, up to maxTokens", async () => {
    const before = shifting.model.stats();
    const whole = await ask(ending, chat(1), { maxTokens: 300 });
    const result = await ask(shifting, chat(1), { maxTokens: 300 });
    expect(result.finishReason).toBe("length");
    expect(result.usage.completionTokens).toBe(300);
    expect(result.usage.droppedTokens).toBeGreaterThan(150);
    expect(result.text.startsWith(whole.text)).toBe(true);
    const after = shifting.model.stats();
    expect(after.contextShifts - before.contextShifts).toBeGreaterThan(2);
    expect(after.cellsUsed).toBe(0);
    expect(after.promptTokens - before.promptTokens).toBeLessThan(result.usage.promptTokens + 1);
  });

  it("is passed with `shift` up to four contexts without maxTokens", async () => {
    const result = await ask(shifting, chat(1));
    expect(result.finishReason).toBe("length");
    expect(result.usage.completionTokens).toBe(4 * contextLength);
  });

  it("does not disturb stop strings, penalties and the stream's pieces with `shift`", async () => {
    const request = { messages: chat(1), temperature: 0, maxTokens: 260, presencePenalty: 1 };
    const { text } = await shifting.model.generate(request);
    const stop = text.slice(-24, -12);
    const generation = shifting.model.generate({ ...request, stop: [stop] });
    let streamed = "";
    for await (const { text: piece } of generation) streamed += piece;
    expect(streamed).toBe(text.slice(0, text.indexOf(stop)));
    expect((await generation).finishReason).toBe("stop");
  });

  it("does not change the texts of requests with the same prefix while another one shifts", async () => {
    const questions = ["Who rings the bell?", "What floats there?", "Where is the lantern?"];
    const bodies = questions.map((content): Message[] => [system, { role: "user", content }]);
    const solo: string[] = [];
    for (const body of bodies)
      solo.push((await ask(ending, body, { maxTokens: 60, cachePrompt: false })).text);
    const long = shifting.model.generate({ messages: chat(1), temperature: 0, maxTokens: 500 });
    const texts: string[] = [];
    const before = shifting.model.stats().contextShifts;
    for (let round = 0; round < 2; round += 1) {
      for (const body of bodies) texts.push((await ask(shifting, body, { maxTokens: 60 })).text);
    }
    expect(shifting.model.stats().contextShifts).toBeGreaterThan(before);
    expect(texts).toEqual([...solo, ...solo]);
    expect((await long).usage.completionTokens).toBe(500);
  });

  it("keeps the system message and the last messages of a prompt that is too long", async () => {
    const messages = chat(9);
    const result = await ask(shifting, messages, { maxTokens: 20 });
    expect(result.usage.droppedTokens).toBeGreaterThan(0);
    const shortened = [system, ...messages.slice(-2)];
    const same = await ask(ending, shortened, { maxTokens: 20, cachePrompt: false });
    expect(result.usage.promptTokens).toBe(same.usage.promptTokens);
    expect(result.text).toBe(same.text);
  });

  it("refuses a last message that is too long by itself, and a plain prompt", async () => {
    const content = "The bell rings. ".repeat(40);
    const refused = { code: "context_length_exceeded" };
    await expect(ask(shifting, [...chat(3), { role: "user", content }])).rejects.toMatchObject(refused);
    await expect(shifting.model.generate({ prompt: content })).rejects.toMatchObject(refused);
  });
});

// In a model with one layer, keys and values do not depend on earlier tokens, so moving cells and recomputing them must agree. Of two
// equal requests, the first one to be full cannot move the cells that it shares with the other, so it recomputes them.
describe("moved cells", () => {
  it("give the same text as recomputing", async () => {
    await using loaded = await loadChat(
      { ...exactArithmetic, contextOverflow: "shift", parallel: 2 },
      { layers: 1 },
    );
    const prompt = "The bell rings over the quiet water, and nobody hears it but the guide. ".repeat(5);
    const request = { prompt, temperature: 0, maxTokens: 300 };
    const before = loaded.model.stats().promptTokens;
    const [first, second] = await Promise.all([
      loaded.model.generate(request),
      loaded.model.generate(request),
    ]);
    expect(first.usage.completionTokens).toBe(300);
    expect(second.text).toBe(first.text);
    // The prompt once, the last token of the second request, and the tokens that the first one recomputed.
    expect(loaded.model.stats().promptTokens - before).toBeGreaterThan(first.usage.promptTokens + 20);
  });
});

/**
 * If keys are rounded to few bits, a sum in another order, such as beside a cached prefix, may round to another key and change the
 * text: then only texts that were computed in the same way are equal.
 */
const unmovable: [
  what: string,
  LoadOptions,
  { fixture?: Parameters<typeof tinyModel>[0]; isExact: boolean },
][] = [
  ["a hybrid model", exactArithmetic, { fixture: { architecture: "lfm2" }, isExact: true }],
  ["keys of 8 bits", { kvBitsK: 8, flashAttention: "off" }, { isExact: false }],
  ["a cache of 8 bits", { kvBits: 8, flashAttention: "on" }, { isExact: false }],
  ["a cache of 4 bits", { kvBits: 4, flashAttention: "on" }, { isExact: false }],
  ["a cache of 3 bits", { kvBits: 3, flashAttention: "on" }, { isExact: false }],
];
describe.each(unmovable)("%s, whose cells cannot be moved", (_, options, { fixture, isExact }) => {
  it("recomputes the remaining tokens and continues", async () => {
    await using loaded = await loadChat({ contextOverflow: "shift", ...options }, fixture);
    const before = loaded.model.stats();
    const request = { messages: chat(2), temperature: 0, maxTokens: 300, cachePrompt: isExact };
    const result = await loaded.model.generate(request);
    expect(result.usage.completionTokens).toBe(300);
    expect(result.usage.droppedTokens).toBeGreaterThan(150);
    const after = loaded.model.stats();
    expect(after.contextShifts - before.contextShifts).toBeGreaterThan(2);
    expect(after.preemptions).toBe(0);
    expect(after.promptTokens - before.promptTokens).toBeGreaterThan(result.usage.promptTokens + 50);
    expect((await loaded.model.generate({ ...request, cachePrompt: false })).text).toBe(result.text);
  });
});
