// Leases the model of an Ollama request with the requested context, and keeps it in memory for the requested time.
import type { OllamaChatRequest, OllamaOptions } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/registry.ts";
import { timeMsMax } from "../../settings/rules.ts";
import type { InferenceOptions } from "../inference.ts";
import { leaseWithNeeds } from "../lease-with-needs.ts";
import { toModelName } from "./conventions.ts";

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
export interface OllamaModelFields {
  model?: string | undefined;
  options?: OllamaOptions | undefined;
  keep_alive?: number | string | undefined;
  think?: OllamaChatRequest["think"];
}

/** Throws what `leaseWithNeeds` throws. Only a request that may manage models can set the idle time. */
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
  const lease = await leaseWithNeeds(needs, request, options);
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
