// What the requests of one key leave behind tells another key nothing: neither what is computed, nor drafts, nor slots and their files.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ServerFlags } from "@ingle/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realServer, type RealServer } from "./real-server.ts";

const [victim, curious, admin] = ["key-of-the-victim", "key-of-the-curious", "key-of-the-admin"] as const;
const flags = { apiKey: [victim, curious], adminKey: [admin], llamaServerApi: true };
const load = { contextLength: 1_024, parallel: 2, speculation: "ngram" } as const;

/** What the victim has sent: 300 tokens that nobody else has. */
const secret = Array.from({ length: 300 }, (_, at) => 300 + ((at * 37) % 200));

/** What a reply tells about the work that it took, in the engine's own counts. */
interface Work {
  prompt: number;
  cached: number;
  computed: number;
  drafted: number;
}

async function complete(server: RealServer, key: string, body: object): Promise<Work> {
  const response = await fetch(`${server.baseUrl}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "tiny", temperature: 0, max_tokens: 1, ignore_eos: true, ...body }),
  });
  expect(response.status).toBe(200);
  const { usage, timings } = (await response.json()) as {
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
    timings: { prompt_n: number; draft_n?: number };
  };
  return {
    prompt: usage.prompt_tokens,
    cached: usage.prompt_tokens_details.cached_tokens,
    computed: timings.prompt_n,
    drafted: timings.draft_n ?? 0,
  };
}

async function get(server: RealServer, key: string, route: string): Promise<Response> {
  const { origin } = new URL(server.baseUrl);
  return await fetch(`${origin}${route}`, { headers: { authorization: `Bearer ${key}` } });
}

/** A thousand guesses: the secret up to some token and then another one, as a tenant would try who looks for the next token. */
const probes = Array.from({ length: 1_000 }, (_, at) => {
  const right = (at * 7) % secret.length;
  return [...secret.slice(0, right), 500 + (at % 7), ...(at % 2 === 0 ? secret.slice(right, right + 3) : [])];
});

async function probe(server: RealServer): Promise<Work[]> {
  const work: Work[] = [];
  for (const prompt of probes) work.push(await complete(server, curious, { prompt }));
  return work;
}

describe("a curious key", () => {
  it(
    "finds the same in a thousand guesses, whether or not another one has sent the text",
    { timeout: 180_000 },
    async () => {
      await using server = await realServer({ load, flags });
      await using untouched = await realServer({ load, flags });
      expect((await complete(server, victim, { prompt: secret })).cached).toBe(0);
      expect((await complete(server, victim, { prompt: secret })).cached).toBe(secret.length - 1);
      const [first] = probes;
      expect(await complete(server, curious, { prompt: first })).toMatchObject({ cached: 0 });
      expect(await complete(untouched, curious, { prompt: first })).toMatchObject({ cached: 0 });
      // Its own guesses share what they have in common, and that is all: the distributions of hits and misses are one.
      expect(await probe(server)).toEqual(await probe(untouched));
      expect((await complete(server, victim, { prompt: secret })).cached).toBe(secret.length - 1);
    },
  );

  it("finds what another one has sent if the operator lets all keys share", async () => {
    await using server = await realServer({ load, flags: { ...flags, sharePrefixes: true } });
    await complete(server, victim, { prompt: secret });
    expect((await complete(server, curious, { prompt: secret })).cached).toBe(secret.length - 1);
  });

  it.each([
    ["pushes out only its own, under however many salts", false, secret.length - 1],
    ["pushes out another one's where all share", true, 0],
  ])("that fills the memory %s", { timeout: 180_000 }, async (_, sharePrefixes, left) => {
    const small = { ...load, cells: 1_100, cacheRamMiB: 1 };
    await using server = await realServer({ load: small, flags: { ...flags, sharePrefixes } });
    await complete(server, victim, { prompt: secret });
    for (let at = 0; at < 60; at += 1) {
      const prompt = secret.map((token, place) => 300 + ((token + at * (place + 3)) % 200));
      await complete(server, curious, { prompt, cache_salt: sharePrefixes ? undefined : `salt ${at}` });
    }
    expect((await complete(server, victim, { prompt: secret })).cached).toBe(left);
  });

  it("gets no drafts from another one's replies", async () => {
    await using server = await realServer({ load, flags });
    const ask = async (key: string) =>
      await complete(server, key, { prompt: secret, max_tokens: 200, logit_bias: { 400: -100 } });
    await ask(victim);
    const mine = await ask(victim);
    const other = await ask(curious);
    expect(mine.drafted).toBeGreaterThan(other.drafted);
  });
});

it("a salt keeps requests of one key apart, too, and needs no keys", async () => {
  await using server = await realServer({ load });
  const cached = async (body: object) => (await complete(server, "none", { prompt: secret, ...body })).cached;
  expect(await cached({ cache_salt: "a" })).toBe(0);
  expect(await cached({ cache_salt: "b" })).toBe(0);
  expect(await cached({})).toBe(0);
  expect(await cached({ cache_salt: "a" })).toBe(secret.length - 1);
});

describe("slots", () => {
  let folder = "";
  let server: RealServer | undefined;
  const running = (): RealServer => {
    if (server === undefined) throw new Error("The server runs only in tests.");
    return server;
  };
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-walls-"));
    server = await realServer({ load: { ...load, slotDir: folder }, flags });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function change(
    key: string,
    action: string,
    body: object,
  ): Promise<{ status: number; body: unknown }> {
    const { origin } = new URL(running().baseUrl);
    const response = await fetch(`${origin}/slots/0?action=${action}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  it("of a key are its own, and so are their files", async () => {
    const filename = "chat.bin";
    await complete(running(), victim, { prompt: secret, id_slot: 0 });
    expect(await change(victim, "save", { filename })).toMatchObject({ status: 200, body: { n_saved: 300 } });
    for (const action of ["save", "restore", "erase"])
      expect([action, (await change(curious, action, { filename })).status]).toEqual([action, 400]);
    // Under the same name, each has its own.
    await complete(running(), curious, { prompt: secret.slice(0, 100), id_slot: 0 });
    expect(await change(curious, "save", { filename })).toMatchObject({ body: { n_saved: 100 } });
    expect(await change(victim, "restore", { filename })).toMatchObject({ body: { n_restored: 300 } });
    expect(await change(curious, "restore", { filename })).toMatchObject({ body: { n_restored: 100 } });
    expect(await change(curious, "erase", {})).toMatchObject({ status: 200 });
    expect((await complete(running(), victim, { prompt: secret })).cached).toBe(secret.length - 1);
    expect((await complete(running(), curious, { prompt: secret })).cached).toBe(0);
  });

  it("show a key its own requests, as the server's state does, and the metrics need a management key", async () => {
    const busy = new AbortController();
    const { model, baseUrl } = running();
    const reply = fetch(`${baseUrl}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${victim}` },
      body: JSON.stringify({ model: "tiny", prompt: "on and on", ignore_eos: true, max_tokens: 900 }),
      signal: busy.signal,
    });
    await expect.poll(() => model.stats().running).toBe(1);
    const seen = async (key: string) => {
      const slots = (await (await get(running(), key, "/slots")).json()) as { is_processing: boolean }[];
      const state = (await (await get(running(), key, "/api/v1/state")).json()) as { running: number };
      return [slots.filter((slot) => slot.is_processing).length, state.running];
    };
    expect([await seen(victim), await seen(admin), await seen(curious)]).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    busy.abort();
    await expect(reply).rejects.toThrow();
    const statuses = [];
    for (const key of [victim, curious, admin]) statuses.push((await get(running(), key, "/metrics")).status);
    expect(statuses).toEqual([403, 403, 200]);
  });
});

it("events of the KV cache are refused where no two keys share anything", async () => {
  const kvEvents = "tcp://127.0.0.1:0";
  const withEvents: ServerFlags = { ...flags, kvEvents };
  await expect(realServer({ load, flags: withEvents })).rejects.toThrow(/--share-prefixes/);
});
