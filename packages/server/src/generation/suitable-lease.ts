// Leases a model that meets a request's needs: a minimum context, or the ability to think.
import { EngineError } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import { includes } from "../access/rights.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { areSettingsInUse } from "../models/slot/model-state.ts";
import { WireError } from "../wire-error.ts";
import { leaseModel, type InferenceOptions } from "./inference.ts";

export interface Needs {
  /** Id or alias. */
  model: string | undefined;
  /** The needed context in tokens, and the field to name in errors. */
  context: { tokens: number | undefined; field: string };
  thinking: { isNeeded: boolean; field: string };
}

type LeaseOptions = Pick<InferenceOptions, "registry" | "variant">;

/**
 * Throws what `leaseModel` throws, and `invalid_request` if the model's context is smaller than the request needs, or if the
 * request wants the model to think and it cannot. Only a request that may manage models can load one with its own context.
 */
export async function leaseSuitable(
  { model, context, thinking }: Needs,
  request: FastifyRequest,
  options: LeaseOptions & { places: number },
): Promise<Lease> {
  const { registry, places } = options;
  const { tokens } = context;
  if (tokens !== undefined && model !== undefined && includes(request.right, "management"))
    await loadWithContext(model, tokens, request, options);
  const lease = await leaseModel(request, options, { model, places });
  const { info } = lease.model;
  if (tokens !== undefined && Math.min(tokens, info.contextLengthTrain) > info.contextLength)
    throw new WireError(
      "invalid_request",
      `${context.field} is ${tokens}, and ${lease.id} is loaded with a context of ${info.contextLength} tokens; ` +
        "unload it first, or start the server with a larger --ctx",
      { param: context.field },
    );
  const { profile } = await registry.known(lease.id);
  if (thinking.isNeeded && profile.cannotThink)
    throw new WireError("invalid_request", `"${model ?? lease.id}" does not support thinking`, {
      param: thinking.field,
    });
  return lease;
}

/** Loads a model that is not in memory, with at least this context. A model without settings is loaded as usual. */
async function loadWithContext(
  name: string,
  contextLength: number,
  { clientSignal: signal, mayUse }: FastifyRequest,
  { registry }: LeaseOptions,
): Promise<void> {
  const slot = await registry.find(name, mayUse);
  const usual = slot?.known.settings;
  if (slot === undefined || usual === undefined || areSettingsInUse(slot.state)) return;
  if (usual.contextLength !== undefined && usual.contextLength >= contextLength) return;
  try {
    await registry.load(slot.id, undefined, { settings: { contextLength }, signal });
  } catch (error) {
    // No context is longer than the model was trained for.
    const most = EngineError.is(error) ? error.details["contextLengthTrain"] : undefined;
    if (typeof most !== "number") throw error;
    await registry.load(slot.id, undefined, { settings: { contextLength: most }, signal });
  }
}
