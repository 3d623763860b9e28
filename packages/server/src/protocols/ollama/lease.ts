// The model of an Ollama request: leased with the context that it asks for, and kept in memory for as long as it says.
import { EngineError } from "@ingle/engine";
import type { OllamaChatRequest, OllamaOptions } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/registry.ts";
import { areSettingsInUse } from "../../models/slot/model-state.ts";
import { WireError } from "../../wire-error.ts";
import { leaseModel, type InferenceOptions } from "../inference.ts";
import { keepAliveMs } from "./keep-alive.ts";
import { toModelName } from "./model-name.ts";

/** What every request of Ollama that uses a model may have. */
export interface OllamaModelFields {
  model?: string | undefined;
  options?: OllamaOptions | undefined;
  keep_alive?: number | string | undefined;
  think?: OllamaChatRequest["think"];
}

type LeaseOptions = Pick<InferenceOptions, "registry" | "variant">;

/**
 * Throws what `leaseModel` throws, and `invalid_request` if the model's context is smaller than `num_ctx`, or if the request wants
 * thoughts of a model that cannot think. Only a request that may manage models loads one with a context of its own, and decides how
 * long it stays.
 */
export async function leaseOllamaModel(
  {
    model,
    options: { num_ctx: contextLength } = {},
    keep_alive: keepAlive,
    think = false,
  }: OllamaModelFields,
  request: FastifyRequest,
  options: LeaseOptions & { places: number },
): Promise<Lease> {
  const { registry, places } = options;
  const mayManage = includes(request.right, "management");
  const name = model === undefined ? undefined : toModelName(model);
  if (mayManage && name !== undefined && contextLength !== undefined)
    await loadWithContext(name, contextLength, request, options);
  const lease = await leaseModel(request, options, { model: name, places });
  const { info } = lease.model;
  if (contextLength !== undefined && Math.min(contextLength, info.contextLengthTrain) > info.contextLength)
    throw new WireError(
      "invalid_request",
      `options.num_ctx is ${contextLength}, and ${lease.id} is loaded with a context of ${info.contextLength} tokens; ` +
        "unload it first, or start the server with a larger --ctx",
      { param: "options.num_ctx" },
    );
  const { profile, idle } = await registry.known(lease.id);
  if (think !== false && profile.cannotThink)
    throw new WireError("invalid_request", `"${model ?? lease.id}" does not support thinking`, {
      param: "think",
    });
  if (keepAlive !== undefined) {
    if (mayManage) idle.choose(keepAliveMs(keepAlive));
    else request.ignore(["keep_alive"]);
  }
  return lease;
}

/** Loads a model that is not in memory, with at least this context. One that knows no settings is loaded as usual. */
async function loadWithContext(
  name: string,
  contextLength: number,
  { clientSignal: signal }: FastifyRequest,
  { registry }: LeaseOptions,
): Promise<void> {
  const slot = await registry.find(name);
  const usual = slot?.known.settings;
  if (slot === undefined || usual === undefined || areSettingsInUse(slot.state)) return;
  if (usual.contextLength !== undefined && usual.contextLength >= contextLength) return;
  try {
    await registry.load(slot.id, undefined, { settings: { contextLength }, signal });
  } catch (error) {
    // As in Ollama, no context is longer than the one that the model was trained for.
    const most = EngineError.is(error) ? error.details["contextLengthTrain"] : undefined;
    if (typeof most !== "number") throw error;
    await registry.load(slot.id, undefined, { settings: { contextLength: most }, signal });
  }
}

/** Unloads a model because a request without a prompt has `keep_alive: 0`. Returns its id. */
export async function unloadOllamaModel(
  model: string | undefined,
  request: FastifyRequest,
  { registry }: LeaseOptions,
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
