// The batches of this server: opened when a request first needs them, or at the start if an earlier server has left some. Their requests
// go through the server's own routes, with the key that made the batch.
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseJson } from "@ingle/protocol/json-shape";
import type { FastifyInstance } from "fastify";
import { Batches } from "../../../batches/batches.ts";
import type { BatchRecord } from "../../../batches/batch-record.ts";
import type { RequestLine } from "../../../batches/check-lines.ts";
import type { LineResponse } from "../../../batches/run-lines.ts";
import type { InferenceOptions } from "../../../generation/inference.ts";
import type { ModelRegistry } from "../../../models/registry.ts";
import type { InnerSender } from "../../../plugins/background.ts";
import { ConfigError } from "../../../settings/resolve.ts";
import { WireError } from "../../../wire-error.ts";

/** Requests in flight to a model that is not loaded yet. */
const placesDefault = 4;
/** Requests in flight besides those that a model computes at once: they are prepared while others are computed. */
const placesAhead = 2;
/** How often it is checked whether the server has models, in milliseconds. */
const readyEveryMs = 200;

export interface BatchOptions extends Pick<InferenceOptions, "registry" | "now"> {
  readonly batches: {
    /** Undefined: there is no place for files. */
    readonly folder: string | undefined;
    /** Maximum size of all files together, in bytes. */
    readonly bytesMax: number;
  };
}

/** Resolves to the batches. Throws `not_enabled` if this server keeps none. */
export type OpenBatches = () => Promise<Batches>;

/** They end with the app. */
export function serverBatches(
  app: FastifyInstance,
  { registry, now, batches: { folder, bytesMax } }: BatchOptions,
): OpenBatches {
  let opening: Promise<Batches> | undefined;
  const open = async (place: string): Promise<Batches> => {
    const batches = await Batches.open({
      folder: place,
      bytesMax,
      clock: now,
      send: async (record, line, signal) => await send(app, record, line, signal),
      places: (record, model) => countPlaces(app, registry, record, model),
      ready: async (signal) => await untilReady(registry, signal),
      onFailure: (err, about) => app.log.warn({ err, ...about }, "a batch cannot go on; it is tried again"),
    });
    batches.start();
    return batches;
  };
  const get: OpenBatches = async () => {
    if (folder === undefined) throw notEnabled("it has no folder for them. Give one with --batch-store");
    if (folder === "none") throw notEnabled("--batch-store is none");
    try {
      return await (opening ??= open(folder));
    } catch (error) {
      opening = undefined; // another server may leave the folder
      if (error instanceof ConfigError) throw notEnabled(withoutPeriod(error.message));
      throw error;
    }
  };
  app.addHook("onReady", async () => {
    if (folder === undefined || !existsSync(path.join(folder, "batches.db"))) return;
    get().catch((err: unknown) => app.log.warn({ err }, "batches of an earlier server cannot go on"));
  });
  const opened = async (): Promise<Batches | undefined> => await opening?.catch(() => undefined);
  app.addHook("preClose", async () => await (await opened())?.stop());
  app.addHook("onClose", async () => await (await opened())?.[Symbol.asyncDispose]());
  return get;
}

function notEnabled(why: string): WireError {
  return new WireError("not_enabled", `This server keeps no files and batches: ${why}.`);
}

function withoutPeriod(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

async function send(
  app: FastifyInstance,
  record: BatchRecord,
  { url, body }: RequestLine,
  signal: AbortSignal,
): Promise<LineResponse> {
  // Thousands of stored responses would push out those that people come back to.
  const sent = url === "/v1/responses" ? { store: false, ...body } : body;
  const response = await app.inject({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      "x-session-id": record.batch.id, // without a key, the batch is one client
      ...app.innerHeaders(toSender(record), signal),
    },
    payload: JSON.stringify(sent),
  });
  signal.throwIfAborted();
  const { "retry-after": retryAfter, "x-request-id": requestId } = response.headers;
  return {
    status: response.statusCode,
    requestId: String(requestId),
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
    body: parseJson(response.payload) ?? null,
  };
}

function toSender({ sender, batch }: BatchRecord): InnerSender {
  return { ...sender, at: batch.created_at };
}

/** So many that the model always has work. A key with few requests at a time keeps one for its other clients. */
function countPlaces(
  app: FastifyInstance,
  { slots }: ModelRegistry,
  record: BatchRecord,
  model: unknown,
): number {
  const named = slots.find(({ names }) => typeof model === "string" && names.includes(model));
  const slot = named ?? slots.find(({ info }) => info !== undefined);
  const wanted = slot?.info === undefined ? placesDefault : slot.info.parallel + placesAhead;
  return Math.max(1, Math.min(wanted, parallelRequests(app, record) - 1));
}

function parallelRequests(app: FastifyInstance, record: BatchRecord): number {
  try {
    return app.innerKey(toSender(record))?.terms.parallel_requests ?? Infinity;
  } catch {
    return Infinity; // the requests get the error
  }
}

async function untilReady(registry: ModelRegistry, signal: AbortSignal): Promise<void> {
  while (!registry.readiness().isReady) {
    signal.throwIfAborted();
    await wait(readyEveryMs);
  }
  signal.throwIfAborted();
}
