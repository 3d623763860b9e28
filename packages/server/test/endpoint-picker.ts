// Simulates the endpoint picker of llm-d's router (v0.10.0) as a client: it scrapes /metrics without a key, follows each server's
// KV-cache events and requests those that it missed, keeps the index of its "precise prefix cache", and picks a server for a prompt.
// It follows what that program does (pkg/kvevents, pkg/kvcache and the metrics extractor), with its names.
import { createHash } from "node:crypto";
import { ZmtpClient } from "./harness/zmtp-client.ts";
import { readMessagePack } from "./harness/msgpack.ts";

/** What the picker needs to know of each of its servers. */
export interface Endpoint {
  /** Up to and including /v1. */
  baseUrl: string;
  eventsPort: number;
  replayPort?: number | undefined;
}

/** Its default: smaller than the engine's blocks, each of which becomes several of its keys. */
const blockSizeTokens = 16;
const scrapeEveryMs = 50;
const mediumWeights: Readonly<Record<string, number>> = { gpu: 1, cpu: 0.8 };

interface Metrics {
  waiting: number;
  running: number;
  kvUsage: number;
  blockSize: number;
  blocks: number;
}

export class EndpointPicker implements Disposable {
  readonly pods: readonly Pod[];
  readonly index = new Index();
  readonly #stop = new AbortController();
  #turn = 0;

  constructor(endpoints: readonly Endpoint[]) {
    this.pods = endpoints.map((endpoint) => new Pod(endpoint, this.index, this.#stop.signal));
  }

  /** Resolves when every server was scraped and has sent its greeting. */
  async start(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.start()));
  }

  /** The server with the longest prefix, then with the shortest queue, then by round robin. */
  pick(model: string, tokens: readonly number[]): Pod {
    const scores = this.index.score(requestKeys(model, tokens));
    this.#turn += 1;
    const rank = (pod: Pod, place: number): number[] => [
      -(scores.get(pod.id) ?? 0),
      pod.load,
      (place + this.#turn) % this.pods.length,
    ];
    const ranked = this.pods.map((pod, place) => ({ pod, rank: rank(pod, place) }));
    const [best] = ranked.toSorted((a, b) => compare(a.rank, b.rank));
    if (best === undefined) throw new Error("There is no server to pick.");
    return best.pod;
  }

  score(model: string, tokens: readonly number[], pod: Pod): number {
    return this.index.score(requestKeys(model, tokens)).get(pod.id) ?? 0;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    for (const pod of this.pods) pod[Symbol.dispose]();
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  const first = a.findIndex((value, i) => value !== b[i]);
  return first < 0 ? 0 : (a[first] ?? 0) - (b[first] ?? 0);
}

/** One server as the picker sees it. */
export class Pod implements Disposable {
  readonly endpoint: Endpoint;
  /** The picker's name for it, whatever the topic says. */
  readonly id: string;
  metrics: Metrics | undefined;
  scrapes = 0;
  /** Scrapes without a 200, or without the required metrics. */
  readonly failures: string[] = [];
  /** Errors of the event stream. */
  replays = 0;
  resets = 0;
  readonly #index: Index;
  readonly #signal: AbortSignal;
  #client: ZmtpClient | undefined;
  #lastSeq: bigint | undefined;
  #lastLiveSeq: bigint | undefined;

  constructor(endpoint: Endpoint, index: Index, signal: AbortSignal) {
    this.endpoint = endpoint;
    this.id = new URL(endpoint.baseUrl).host;
    this.#index = index;
    this.#signal = signal;
  }

  get load(): number {
    return (this.metrics?.waiting ?? 0) + (this.metrics?.running ?? 0);
  }

  async start(): Promise<void> {
    await this.#scrape();
    void this.#scrapeOn();
    await this.subscribe();
  }

  /** Reconnects, as after a lost connection. */
  async subscribe(): Promise<void> {
    this.#client?.[Symbol.dispose]();
    // The picker's library speaks ZMTP 3.0.
    const client = await ZmtpClient.connect(this.endpoint.eventsPort, { type: "SUB", minor: 0 });
    this.#client = client;
    client.subscribe("kv@");
    if (this.endpoint.replayPort !== undefined && this.#lastSeq === undefined) await this.#replay(0n);
    void this.#follow(client);
  }

  /** Loses the connection, and everything sent until subscribe(). */
  disconnect(): void {
    this.#client?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.disconnect();
  }

  async #scrapeOn(): Promise<void> {
    while (!this.#signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, scrapeEveryMs));
      if (!this.#signal.aborted) await this.#scrape();
    }
  }

  async #scrape(): Promise<void> {
    try {
      const response = await fetch(new URL("/metrics", this.endpoint.baseUrl), { signal: this.#signal });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      const text = await response.text();
      const { block_size: blockSize, num_gpu_blocks: blocks } = sample(text, "vllm:cache_config_info").labels;
      this.metrics = {
        waiting: sample(text, "vllm:num_requests_waiting").value,
        running: sample(text, "vllm:num_requests_running").value,
        kvUsage: sample(text, "vllm:kv_cache_usage_perc").value,
        blockSize: Number(blockSize),
        blocks: Number(blocks),
      };
      this.scrapes += 1;
    } catch (error) {
      if (!this.#signal.aborted) this.failures.push(String(error));
    }
  }

  async #follow(client: ZmtpClient): Promise<void> {
    while (client === this.#client && !client.socket.destroyed) {
      const frames = await client.message(Infinity).catch(() => undefined);
      if (frames === undefined || client !== this.#client) return;
      await this.#received(frames);
    }
  }

  async #received([topic, number, payload]: readonly Buffer[]): Promise<void> {
    if (topic === undefined || number?.length !== 8 || payload === undefined) throw new Error("malformed");
    const seq = number.readBigUInt64BE();
    if (this.endpoint.replayPort === undefined) return this.#apply(topic, payload);
    let isReplayTried = false;
    if (this.#lastLiveSeq !== undefined && seq < this.#lastLiveSeq) {
      this.resets += 1;
      this.#index.clear(this.id);
      this.#lastSeq = undefined;
      isReplayTried = true;
      await this.#replay(0n);
    }
    if (seq === this.#lastLiveSeq) return;
    this.#lastLiveSeq = seq;
    if (this.#lastSeq !== undefined && seq <= this.#lastSeq) return;
    if (this.#lastSeq !== undefined && seq > this.#lastSeq + 1n) {
      isReplayTried = true;
      if (!(await this.#replay(this.#lastSeq + 1n))) return;
    }
    if (this.#lastSeq === undefined && seq > 0n && (isReplayTried || !(await this.#replay(0n)))) return;
    if (this.#lastSeq !== undefined && seq !== this.#lastSeq + 1n) return;
    this.#apply(topic, payload);
    this.#lastSeq = seq;
  }

  /** False if not everything from that number on was available. */
  async #replay(start: bigint): Promise<boolean> {
    this.replays += 1;
    using dealer = await ZmtpClient.connect(this.endpoint.replayPort ?? 0, { type: "DEALER", minor: 0 });
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(start);
    dealer.send([Buffer.alloc(0), number]);
    let replayed = 0;
    for (let expected = start; ; ++expected) {
      const frames = await dealer.message();
      const [topic, seq, payload, ...more] = frames[0]?.length === 0 ? frames.slice(1) : frames;
      if (topic === undefined || seq === undefined || payload === undefined || more.length > 0)
        throw new Error("malformed replay");
      if (payload.length === 0) return replayed > 0 || start === 0n;
      if (seq.readBigUInt64BE() !== expected) throw new Error("incomplete replay");
      this.#apply(topic, payload);
      this.#lastSeq = expected;
      replayed += 1;
    }
  }

  #apply(topic: Buffer, payload: Buffer): void {
    const [kind, , model, ...more] = topic.toString().split("@");
    if (kind !== "kv" || model === undefined || more.length > 0) throw new Error(`topic ${topic.toString()}`);
    const [, events] = readMessagePack(payload) as [number, [string, ...unknown[]][]];
    for (const event of events) this.#index.apply(this.id, model, event);
  }
}

/** `[tag, …]` of vLLM's events, by position. */
type KvEvent = readonly [string, ...unknown[]];

/** The picker's in-memory index: its own block keys, and which pods have them on which medium. */
class Index {
  readonly #keysOfEngine = new Map<bigint, string[]>();
  readonly #podsOfKey = new Map<string, Set<string>>();
  /** Stored blocks that were not removed yet. */
  readonly #stores = new Map<string, number>();

  get size(): number {
    return this.#podsOfKey.size;
  }

  apply(pod: string, model: string, event: KvEvent): void {
    switch (event[0]) {
      case "BlockStored": {
        const [, hashes, parent, tokens, , , medium] = event as [
          string,
          bigint[],
          bigint | null,
          number[],
          number,
          null,
          string,
        ];
        return this.#store(`${pod}|${medium}`, hashes, parent, tokens, model);
      }
      case "BlockRemoved": {
        const [, hashes, medium] = event as [string, bigint[], string];
        for (const hash of hashes) this.#remove(`${pod}|${medium}`, hash);
        return;
      }
      case "AllBlocksCleared":
        return this.clear(pod);
      default:
        throw new Error(`unknown event ${event[0]}`);
    }
  }

  clear(pod: string): void {
    for (const entries of this.#podsOfKey.values()) {
      for (const entry of entries) if (entry.startsWith(`${pod}|`)) entries.delete(entry);
    }
    for (const key of this.#stores.keys()) if (key.startsWith(`${pod}|`)) this.#stores.delete(key);
  }

  /** For each pod, the weights of its keys from the first one on. */
  score(keys: readonly string[]): Map<string, number> {
    const scores = new Map<string, number>();
    let active: Set<string> | undefined;
    for (const key of keys) {
      const weights = new Map<string, number>();
      for (const entry of this.#podsOfKey.get(key) ?? []) {
        const [pod = "", medium = ""] = entry.split("|");
        weights.set(pod, Math.max(weights.get(pod) ?? 0, mediumWeights[medium] ?? 1));
      }
      active = new Set([...weights.keys()].filter((pod) => active === undefined || active.has(pod)));
      for (const pod of active) scores.set(pod, (scores.get(pod) ?? 0) + (weights.get(pod) ?? 0));
      if (active.size === 0) break;
    }
    return scores;
  }

  #store(entry: string, hashes: bigint[], parent: bigint | null, tokens: number[], model: string): void {
    const parentKey = parent === null ? undefined : this.#keysOfEngine.get(parent)?.at(-1);
    // The picker skips such an event.
    if (parent !== null && parentKey === undefined) throw new Error("a block's parent is not known");
    const keys = requestKeys(model, tokens, parentKey);
    const each = keys.length / hashes.length;
    for (const [i, hash] of hashes.entries()) {
      this.#keysOfEngine.set(hash, keys.slice(i * each, (i + 1) * each));
      const count = `${entry}|${hash}`;
      this.#stores.set(count, (this.#stores.get(count) ?? 0) + 1);
    }
    for (const key of keys) {
      const entries = this.#podsOfKey.get(key) ?? new Set();
      this.#podsOfKey.set(key, entries.add(entry));
    }
  }

  #remove(entry: string, hash: bigint): void {
    const count = `${entry}|${hash}`;
    const left = (this.#stores.get(count) ?? 0) - 1;
    if (left > 0) this.#stores.set(count, left);
    else this.#stores.delete(count);
    if (left > 0) return;
    const keys = this.#keysOfEngine.get(hash) ?? [];
    for (const key of keys) this.#podsOfKey.get(key)?.delete(entry);
    if (keys.every((key) => (this.#podsOfKey.get(key)?.size ?? 0) === 0)) this.#keysOfEngine.delete(hash);
  }
}

/** Chained over whole blocks; each model has its own keys. */
function requestKeys(model: string, tokens: readonly number[], parent = model): string[] {
  const keys: string[] = [];
  for (let at = 0; at + blockSizeTokens <= tokens.length; at += blockSizeTokens) {
    const own = tokens.slice(at, at + blockSizeTokens).join();
    keys.push(
      createHash("sha1")
        .update(`${keys.at(-1) ?? parent} ${own}`)
        .digest("base64"),
    );
  }
  return keys;
}

/** A sample in Prometheus' text format. Throws if it is missing. */
function sample(text: string, name: string): { value: number; labels: Record<string, string> } {
  const line = text.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
  const parts = /^[^{ ]+(?:\{(?<labels>.*)\})? (?<value>\S+)/.exec(line ?? "")?.groups;
  if (parts === undefined) throw new Error(`metric family ${name} not found`);
  const labels = [...(parts["labels"] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [
    key,
    value,
  ]);
  return { value: Number(parts["value"]), labels: Object.fromEntries(labels) };
}
