// What responses report beside the reply under llama-server's names: the prompt's progress, token ids and probabilities, and the timings
// beside the usage. Over a real socket, as the `openai` client reads them.
import { ChatCompletionChunk, CompletionChunk, LlamaServerChunk, type PromptProgress } from "@ingle/protocol";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

let server: RealServer;
let client: OpenAI;
beforeAll(async () => {
  server = await realServer({
    load: { contextLength: 1024, parallel: 2, batchTokens: 32 },
    flags: { llamaServerApi: true },
  });
  client = new OpenAI({ baseURL: server.baseUrl, apiKey: "none" });
});
afterAll(() => server[Symbol.asyncDispose]());

const long = "Copper lanterns on a wide river, and three ducks. ".repeat(12);
const stream = { stream: true, stream_options: { include_usage: true } } as const;
const greedy = { model: modelId, temperature: 0, max_tokens: 6, ignore_eos: true };
const chat = { ...greedy, messages: user(long) } as const;

async function all<Chunk>(chunks: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const list: Chunk[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

const chatChunks = async (body: object): Promise<ChatCompletionChunk[]> =>
  (await all(await client.chat.completions.create({ ...chat, ...body, ...stream }))).map((chunk) =>
    ChatCompletionChunk.parse(chunk),
  );

function expectProgress(reports: readonly PromptProgress[], total: number): void {
  expect(reports.length).toBeGreaterThan(4);
  const processed = reports.map((report) => report.processed);
  expect(processed).toEqual(processed.toSorted((a, b) => a - b));
  expect(processed.at(-1)).toBe(total);
  for (const report of reports) {
    expect(report.total).toBe(total);
    expect(report.cache).toBeLessThanOrEqual(report.processed);
    expect(report.time_ms).toBeGreaterThanOrEqual(0);
  }
}

describe("the prompt's progress", () => {
  it("comes before the reply of a chat", async () => {
    const chunks = await chatChunks({ return_progress: true, cache_prompt: false });
    const reports = chunks.flatMap(({ prompt_progress: progress }) => progress ?? []);
    expectProgress(reports, chunks.at(-1)?.usage?.prompt_tokens ?? -1);
    expect(reports[0]).toMatchObject({ cache: 0, processed: 0 });
    const firstText = chunks.findIndex(({ choices }) => choices[0]?.delta.role !== undefined);
    expect(firstText).toBe(reports.length);
    const usual = await chatChunks({ cache_prompt: false });
    const joinText = (list: ChatCompletionChunk[]): string =>
      list.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(joinText(chunks)).toBe(joinText(usual));
    expect(usual.filter(({ prompt_progress }) => prompt_progress !== undefined)).toEqual([]);
  });

  it("begins after what the prefix cache has", async () => {
    await chatChunks({});
    const [first] = await chatChunks({ return_progress: true });
    expect(first?.prompt_progress?.cache).toBeGreaterThan(32);
    expect(first?.prompt_progress?.processed).toBe(first?.prompt_progress?.cache);
  });

  it("comes before the replies of completions, each with its own", async () => {
    const body = { ...greedy, prompt: [long, `Other ${long}`], return_progress: true, cache_prompt: false };
    const chunks = await all(await client.completions.create({ ...body, ...stream }));
    const parsed = chunks.map((chunk) => CompletionChunk.parse(chunk));
    for (const index of [0, 1]) {
      const own = parsed.filter(({ choices }) => choices[0]?.index === index);
      const reports = own.flatMap(({ prompt_progress: progress }) => progress ?? []);
      expectProgress(reports, reports[0]?.total ?? -1);
    }
  });

  it("is in llama-server's own stream", async () => {
    const response = await fetch(`${server.baseUrl.slice(0, -3)}/completion`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: modelId,
        prompt: long,
        n_predict: 3,
        stream: true,
        return_progress: true,
        cache_prompt: false,
      }),
    });
    expect(response.headers.get("x-ingle-ignored")).toBeNull();
    const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data: "));
    const chunks = events.slice(0, -1).map((event) => LlamaServerChunk.parse(JSON.parse(event.slice(6))));
    const reports = chunks.flatMap(({ prompt_progress: progress }) => progress ?? []);
    expectProgress(reports, chunks[0]?.tokens_evaluated ?? -1);
  });
});

describe("the tokens of a reply", () => {
  it("have ids, and probabilities under llama-server's name, whole and streamed", async () => {
    const body = { ...chat, return_tokens: true, n_probs: 3 };
    const whole = await client.chat.completions.create(body);
    const [choice] = whole.choices as (OpenAI.ChatCompletion.Choice & { tokens?: number[] })[];
    expect(choice?.tokens).toHaveLength(6);
    expect(choice?.logprobs?.content?.map(({ top_logprobs }) => top_logprobs.length)).toEqual([
      3, 3, 3, 3, 3, 3,
    ]);
    const text = await server.model.tokenizer.decode(choice?.tokens ?? []);
    expect(text).toBe(choice?.message.content?.trimStart()); // a text's first space belongs to its first token
    const chunks = await chatChunks({ return_tokens: true });
    expect(chunks.flatMap(({ choices }) => choices[0]?.tokens ?? [])).toEqual(choice?.tokens);
    expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs ?? [])).toEqual([]);
  });

  it("have ids in completions, and no probabilities unless requested", async () => {
    const body = { ...greedy, prompt: long, return_tokens: true };
    const whole = await client.completions.create(body);
    const [choice] = whole.choices as (OpenAI.CompletionChoice & { tokens?: number[] })[];
    expect(choice?.tokens).toHaveLength(6);
    expect(choice?.logprobs).toBeNull();
    const probabilities = { n_probs: 2 };
    const chunks = await all(await client.completions.create({ ...body, ...probabilities, stream: true }));
    const parsed = chunks.map((chunk) => CompletionChunk.parse(chunk));
    expect(parsed.flatMap(({ choices }) => choices[0]?.tokens ?? [])).toEqual(choice?.tokens);
    expect(parsed.flatMap(({ choices }) => choices[0]?.logprobs?.tokens ?? [])).toHaveLength(6);
  });
});

it("has the timings beside the usage", async () => {
  const chunks = await chatChunks({ cache_prompt: false });
  const last = chunks.at(-1);
  expect(last?.choices).toEqual([]);
  expect(last?.timings).toMatchObject({
    prompt_n: last?.usage?.prompt_tokens,
    predicted_n: last?.usage?.completion_tokens,
  });
});
