// Leases the model of an Ollama request with the requested context, and keeps it in memory for the requested time. A request without a
// prompt only loads the model, or unloads it if `keep_alive` is 0.
import type { OllamaChatRequest, OllamaOptions } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/slot/slot-interface.ts";
import { timeMsMax } from "../../settings/rules.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { leaseSuitable } from "../../generation/suitable-lease.ts";
import { toModelName } from "./conventions.ts";
import { WireError } from "../../wire-error.ts";

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The fields of every Ollama request that uses a model. */
interface OllamaModelFields {
  model?: string | undefined;
  options?: OllamaOptions | undefined;
  keep_alive?: number | string | undefined;
  think?: OllamaChatRequest["think"];
}

/** Throws what `leaseSuitable` throws. Only a request that may manage models can set the idle time. */
export async function leaseOllamaModel(
  { model, options: { num_ctx: tokens } = {}, keep_alive: keepAlive, think = false }: OllamaModelFields,
  request: FastifyRequest,
  options: Pick<InferenceOptions, "registry" | "variant"> & { places: number },
): Promise<Lease> {
  const needs = {
    model: model === undefined ? undefined : toModelName(model),
    context: { tokens, field: "options.num_ctx" },
    thinking: { isNeeded: think !== false, field: "think" },
  };
  const lease = await leaseSuitable(needs, request, options);
  if (keepAlive === undefined) return lease;
  const { idle } = await options.registry.known(lease.id);
  if (includes(request.right, "management")) idle.choose(keepAliveMs(keepAlive));
  else request.ignore(["keep_alive"]);
  return lease;
}

/**
 * A request's `keep_alive` in milliseconds, limited to what a timer can wait; null means forever. Numbers are seconds, and texts are
 * durations of Go, which the schema has checked.
 */
export function keepAliveMs(keepAlive: number | string): number | null {
  const ms = typeof keepAlive === "number" ? keepAlive * 1_000 : durationMs(keepAlive);
  return ms < 0 ? null : Math.min(timeMsMax, Math.round(ms));
}

function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
  return text.startsWith("-") ? -ms : ms;
}

/** The reply's fields. Throws what leasing and unloading throw. */
export async function loadedOrUnloaded(
  body: OllamaModelFields,
  request: FastifyRequest,
  options: InferenceOptions,
) {
  const isUnload = body.keep_alive !== undefined && keepAliveMs(body.keep_alive) === 0;
  const id = isUnload
    ? await unload(body.model, request, options)
    : (await leaseOllamaModel(body, request, { ...options, places: 1 })).id;
  return {
    model: body.model ?? id,
    created_at: options.now().toISOString(),
    done: true,
    done_reason: isUnload ? "unload" : "load",
  } as const;
}

/** Returns the model's id. */
async function unload(
  model: string | undefined,
  request: FastifyRequest,
  { registry }: Pick<InferenceOptions, "registry">,
): Promise<string> {
  if (!includes(request.right, "management"))
    throw new WireError("forbidden", "Unloading a model needs a key that may manage models.", {
      param: "keep_alive",
    });
  if (model === undefined)
    throw new WireError("invalid_request", "model is missing: name one", { param: "model" });
  const { id } = await registry.known(toModelName(model));
  await registry.unload(id, { signal: request.clientSignal });
  return id;
}
