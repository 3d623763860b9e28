// Handles a request of Ollama's API without a prompt: loads the model, or unloads it if `keep_alive` is 0.
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import { WireError } from "../../wire-error.ts";
import type { InferenceOptions } from "../inference.ts";
import { keepAliveMs, leaseOllamaModel, type OllamaModelFields } from "./lease.ts";
import { toModelName } from "./conventions.ts";

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
