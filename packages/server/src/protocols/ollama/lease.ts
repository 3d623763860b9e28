// Leases the model of an Ollama request with the requested context, and keeps it in memory for the requested time.
import type { OllamaChatRequest, OllamaOptions } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/registry.ts";
import type { InferenceOptions } from "../inference.ts";
import { leaseWithNeeds } from "../lease-with-needs.ts";
import { keepAliveMs } from "./keep-alive.ts";
import { toModelName } from "./model-name.ts";

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
