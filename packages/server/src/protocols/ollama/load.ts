// A request of Ollama's API without a prompt: it loads the model, or unloads it if `keep_alive` is 0.
import type { FastifyRequest } from "fastify";
import type { InferenceOptions } from "../inference.ts";
import { keepAliveMs } from "./keep-alive.ts";
import { leaseOllamaModel, unloadOllamaModel, type OllamaModelFields } from "./lease.ts";

/** Throws what both throw. */
export async function loadedOrUnloaded(
  body: OllamaModelFields,
  request: FastifyRequest,
  options: InferenceOptions,
) {
  const isUnload = body.keep_alive !== undefined && keepAliveMs(body.keep_alive) === 0;
  const id = isUnload
    ? await unloadOllamaModel(body.model, request, options)
    : (await leaseOllamaModel(body, request, { ...options, places: 1 })).id;
  return {
    model: body.model ?? id,
    created_at: options.now().toISOString(),
    done: true,
    done_reason: isUnload ? "unload" : "load",
  } as const;
}
