// Two servers behind a simulated endpoint picker: it scrapes their metrics without a key, renders prompts, follows their KV-cache
// events, and sends each request to the server that has most of its prompt cached.
import { kvBlockTokens, type LoadOptions } from "@ingle/engine";
import { RenderedPrompt } from "@ingle/protocol";
import { until } from "@ingle/fixtures";
import { afterEach, describe, expect, it } from "vitest";
import { EndpointPicker, type Pod } from "./endpoint-picker.ts";
import { modelId, realServer, type RealServer } from "./real-server.ts";

const key = "a-key-of-more-than-16-characters";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

const opened: (Disposable | AsyncDisposable)[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
});

async function server(load: LoadOptions, { replays = true } = {}): Promise<RealServer> {
  const started = await realServer({
    load: { kvBlockSalt: modelId, contextLength: 1024, cells: 4096, parallel: 2, ...load },
    flags: {
      apiKey: [key],
      sharePrefixes: true,
      metricsPublic: true,
      metricsCompat: "vllm",
      kvEvents: "tcp://127.0.0.1:0",
      ...(replays ? { kvEventsReplay: "tcp://127.0.0.1:0" } : {}),
    },
  });
  opened.push(started);
  return started;
}

async function connectPicker(...servers: RealServer[]): Promise<EndpointPicker> {
  const endpoints = servers.map(({ baseUrl, kvEvents }) => ({
    baseUrl,
    eventsPort: kvEvents?.port ?? 0,
    replayPort: kvEvents?.replayPort,
  }));
  const picker = new EndpointPicker(endpoints);
  opened.push(picker);
  await picker.start();
  return picker;
}

interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

const words = ["river", "lantern", "copper", "harbour", "winter"];

/** A chat that starts with a few hundred tokens of its own. */
function chatAbout(word: string, sentences = 24): ChatMessage[] {
  const content = `The ${word} is quiet tonight, and nobody asks why. `.repeat(sentences);
  return [{ role: "system", content }];
}

/** What the picker renders; any of its servers can do it. */
async function render({ baseUrl }: { baseUrl: string }, messages: ChatMessage[]): Promise<number[]> {
  const body = JSON.stringify({ model: modelId, messages });
  const response = await fetch(`${baseUrl}/chat/completions/render`, { method: "POST", headers, body });
  return RenderedPrompt.parse(await response.json()).token_ids;
}

/** The picker's keys of the tokens that fill blocks, four for each. The reply may fill one more block. */
function countKeys(tokens: number[]): number {
  return 4 * Math.floor(tokens.length / kvBlockTokens);
}

interface Reply {
  choices: { message: { content: string } }[];
  usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
}

async function complete({ baseUrl }: { baseUrl: string }, messages: ChatMessage[]): Promise<Reply> {
  const body = JSON.stringify({ model: modelId, messages, max_tokens: 6, temperature: 0 });
  const response = await fetch(`${baseUrl}/chat/completions`, { method: "POST", headers, body });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

/** Three turns of each chat, one after the other; returns how many of their prompt tokens were cached. */
async function cachedTokens(
  choose: (messages: ChatMessage[]) => Promise<{ baseUrl: string }>,
): Promise<number> {
  const chats = words.slice(0, 3).map((word) => chatAbout(word));
  let cached = 0;
  for (let turn = 0; turn < 3; ++turn) {
    for (const chat of chats) {
      chat.push({ role: "user", content: `And ${turn} more?` });
      const { choices, usage } = await complete(await choose(chat), chat);
      chat.push({ role: "assistant", content: choices[0]?.message.content ?? "" });
      cached += usage.prompt_tokens_details.cached_tokens;
    }
  }
  return cached;
}

function getEndpoint({ endpoint }: Pod): { baseUrl: string } {
  return endpoint;
}

describe("an endpoint picker", () => {
  it("finds more cached tokens with the events of two servers than by round robin", async () => {
    const taken = [await server({}), await server({})];
    let turn = 0;
    const byTurns = await cachedTokens(async () => taken[turn++ % taken.length] ?? expect.fail());
    const fresh = [await server({}), await server({})];
    const picker = await connectPicker(...fresh);
    const [anyPod = expect.fail()] = picker.pods;
    const byEvents = await cachedTokens(async (messages) => {
      const tokens = await render(anyPod.endpoint, messages);
      const best = picker.pick(modelId, tokens);
      if (messages.length > 2) {
        // The events of the chat's previous turn have arrived: all whole blocks of its prompt, on one server.
        const before = countKeys(tokens.slice(0, -40));
        await until(() => picker.score(modelId, tokens, picker.pick(modelId, tokens)) >= before);
        return getEndpoint(picker.pick(modelId, tokens));
      }
      return getEndpoint(best);
    });
    // Three chats and two servers: with round robin, the second turn finds nothing, and the third finds what the first left.
    expect(byEvents).toBeGreaterThan(1.5 * byTurns);
    for (const { failures, scrapes } of picker.pods) {
      expect(failures).toEqual([]);
      expect(scrapes).toBeGreaterThan(0);
    }
  });

  it("learns what moves to host memory, and gives it a lower weight", async () => {
    const one = await server({ cells: 1024, cacheRamMiB: 64 });
    const picker = await connectPicker(one);
    const [pod = expect.fail()] = picker.pods;
    const first = chatAbout("orbit");
    const tokens = await render(one, first);
    await complete(one, first);
    // The block that the reply may fill can be reported later.
    const inContext = countKeys(tokens);
    await until(() => picker.score(modelId, tokens, pod) >= inContext);
    for (const word of words) await complete(one, chatAbout(word));
    await until(() => {
      const score = picker.score(modelId, tokens, pod);
      return score > 0.79 * inContext && score < inContext;
    });
    const { usage } = await complete(one, first);
    expect(usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(kvBlockTokens);
    await until(() => picker.score(modelId, tokens, pod) >= inContext);
  });

  it("learns what is evicted", async () => {
    const one = await server({ cells: 1024, cacheRamMiB: 0 });
    const picker = await connectPicker(one);
    const [pod = expect.fail()] = picker.pods;
    const first = chatAbout("orbit");
    const tokens = await render(one, first);
    await complete(one, first);
    await until(() => picker.score(modelId, tokens, pod) > 4);
    for (const word of words) await complete(one, chatAbout(word));
    await until(() => picker.score(modelId, tokens, pod) <= 4); // the prefix that all chats share may remain
  });

  it.each([true, false])(
    "that connects late or lost its connection learns everything (replay: %s)",
    async (replays) => {
      const one = await server({}, { replays });
      const chats = words.map((word) => chatAbout(word));
      const [first = expect.fail(), second = expect.fail(), third = expect.fail()] = chats;
      await complete(one, first);
      const picker = await connectPicker(one);
      const [pod = expect.fail()] = picker.pods;
      const knows = async (chat: ChatMessage[]): Promise<void> => {
        const tokens = await render(one, chat);
        await until(() => picker.score(modelId, tokens, pod) >= countKeys(tokens));
      };
      await knows(first);
      pod.disconnect();
      await complete(one, second);
      await pod.subscribe();
      await complete(one, third);
      for (const chat of [first, second, third]) await knows(chat);
      expect(pod.failures).toEqual([]);
    },
  );

  it("reads from the metrics the events' block size, and no adapters", async () => {
    const one = await server({});
    const picker = await connectPicker(one);
    const [pod = expect.fail()] = picker.pods;
    expect(pod.metrics).toMatchObject({ blockSize: kvBlockTokens, blocks: 4096 / kvBlockTokens, waiting: 0 });
    // Without loaded adapters this family is absent, as in vLLM; an empty one would mean an adapter without a name.
    const text = await (await fetch(new URL("/metrics", one.baseUrl))).text();
    expect(text).not.toContain("vllm:lora_requests_info");
  });
});
