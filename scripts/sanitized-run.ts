// One end-to-end run of an addon that was built with a sanitizer: loads a tiny model, streams eight generations at once
// with embeddings beside them, cancels some, and disposes the engine during others. sanitize.ts runs it as a child process.
import { createRequire } from "node:module";

import type { NativeEngine, NativeEvent, NativeRequest } from "@ingle/engine-native";
import { greedySampling, usualContext, usualEngine, weightsOnCpu } from "@ingle/fixtures/native-options";

type Addon = typeof import("@ingle/engine-native");

const [addonFile, modelFile] = process.argv.slice(2);
if (addonFile === undefined || modelFile === undefined) {
  throw new Error("Usage: sanitized-run.ts <ingle.node> <model.gguf>");
}

const generations = 8;
const cancelled = new Set([1, 4, 6]);
/** Long enough to cancel some meanwhile, and for prompts to arrive beside replies. */
const tokens = 48;
/** Normally seconds; a sanitizer on a busy machine takes ten times as long. */
const msMax = 4 * 60_000;

function describeEnd(event: Exclude<NativeEvent, { type: "text" }>): string {
  if (event.type === "finish") return event.reason;
  return event.type === "error" ? event.code : "embedded";
}

/** Pending promises for events of requests. */
class Requests {
  readonly #texts = new Map<number, string>();
  readonly #ends = new Map<number, string>();
  readonly #waiting: (() => void)[] = [];

  readonly onEvents = (events: NativeEvent[]): void => {
    for (const event of events) {
      if (event.type === "text") this.#texts.set(event.id, (this.#texts.get(event.id) ?? "") + event.text);
      else this.#ends.set(event.id, describeEnd(event));
    }
    for (const look of this.#waiting.splice(0)) look();
  };

  async text(id: number): Promise<string> {
    return this.#until(() => this.#texts.get(id));
  }

  async end(id: number): Promise<string> {
    return this.#until(() => this.#ends.get(id));
  }

  async #until(read: () => string | undefined): Promise<string> {
    for (;;) {
      const value = read();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }
}

function request(prompt: Int32Array, client: string): NativeRequest {
  return {
    tokens: prompt,
    images: null,
    sampling: {
      ...greedySampling,
      temperature: 0.8,
      topK: 40,
      topP: 0.95,
      minP: 0.05,
      repeatPenalty: 1.1,
      repeatLastN: 64,
      seed: 7,
    },
    maxTokens: tokens,
    stops: ["never said"],
    ignoreEos: true,
    cachePrompt: true,
    constraint: null,
    prediction: new Int32Array(),
    reportsPrompt: false,
    promptLogprobs: -1,
    idSlot: -1,
    cacheSalt: "",
    logprobs: 3,
    adapterScales: [],
    client,
    priority: 0,
    thought: { begin: "", ends: [], isOpen: false, tokensMax: -1, share: 0, closing: new Int32Array() },
  };
}

/** How each of eight generations ended, some of them cancelled after their first text. */
async function stream(engine: NativeEngine, requests: Requests, prompts: Int32Array[]): Promise<string[]> {
  const ids = prompts.map((prompt, index) => engine.submit(request(prompt, `client ${index % 3}`)));
  return Promise.all(
    ids.map(async (id, index) => {
      await requests.text(id);
      if (cancelled.has(index)) engine.cancel(id);
      return requests.end(id);
    }),
  );
}

const context = {
  contextLength: 256,
  cells: 1024,
  parallel: 4,
  batchTokens: 64,
  threads: 2,
  threadsBatch: 2,
  ...usualContext,
} as const;

async function run(addon: Addon, file: string): Promise<void> {
  const weights = weightsOnCpu(file);
  const loading = addon.loadModel(weights, () => undefined);
  const model = await loading.model;
  const requests = new Requests();
  const engine = await model.createEngine(
    {
      ...context,
      ...usualEngine,
      waitingMax: 16,
      contextOverflow: "shift",
      speculation: "ngram",
      draftTokens: 4,
      cacheRamBytes: 64 * 1024 * 1024,
      checkpointBytes: 64 * 1024 * 1024,
    },
    (events) => requests.onEvents(events.filter((event) => event.type !== "blocks")),
  );
  const system = "You are the keeper of a lighthouse and answer in one short sentence. ";
  const prompts = await Promise.all(
    Array.from({ length: generations }, (_, index) =>
      model.tokenize(`${index % 2 === 0 ? system : ""}Question ${index}: what do you see?`, {
        addSpecial: true,
        parseSpecial: false,
      }),
    ),
  );
  const unlimited = { memories: [], totalBytes: Number.MAX_SAFE_INTEGER };
  const embeddings = [prompts, prompts.slice(3), prompts].map((texts) => engine.embed(texts, unlimited));
  // Another model is measured while this one computes.
  const [ends, { memories }] = await Promise.all([
    stream(engine, requests, prompts),
    addon.measureModel(weights, context, null),
  ]);
  if (memories.length === 0) throw new Error("The model takes no memory.");
  engine.cancel(embeddings[2] ?? 0); // the request may have ended
  const embedded = await Promise.all(embeddings.slice(0, 2).map((id) => requests.end(id)));
  if (embedded.join() !== "embedded,embedded") throw new Error(`Embeddings ended with ${embedded.join()}.`);
  const expected = prompts.map((_, index) => (cancelled.has(index) ? "cancelled" : "length"));
  if (ends.join() !== expected.join()) throw new Error(`Generations ended with ${ends.join()}.`);

  const left = prompts.map((prompt) => engine.submit(request(prompt, "leaving")));
  const leftTexts = engine.embed(
    Array.from({ length: 200 }, () => prompts[0] ?? new Int32Array()),
    unlimited,
  );
  await requests.text(left[0] ?? 0);
  await engine.dispose();
  const last = await Promise.all(left.map((id) => requests.end(id)));
  last.push(await requests.end(leftTexts));
  if (!last.includes("disposed")) throw new Error(`Generations ended with ${last.join()} at disposal.`);
  model.dispose();
}

const timer = setTimeout(() => {
  console.error(`The run was not done after ${msMax} ms.`);
  process.exit(1);
}, msMax);
const addon: Addon = createRequire(import.meta.url)(addonFile);
await run(addon, modelFile);
clearTimeout(timer);
console.log("the run went well");
