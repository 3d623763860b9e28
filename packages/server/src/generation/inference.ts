// What every route that uses a model needs: the model's lease, reading images, and the head of a response.
import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { ServerConfig } from "../config.ts";
import type { ImageReading } from "../content/image-files.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { toUnixSeconds } from "../seconds.ts";
import { variantId } from "../models/adapters.ts";
import { variants, type VariantName } from "../variants.ts";
import { WireError } from "../wire-error.ts";
import { serverSampling, type ServerSampling } from "./sampling-defaults.ts";
import { systemFingerprint, type ResponseHead } from "./usage.ts";

/** Maximum silence of a stream: proxies commonly close silent ones after 30 to 60 seconds. */
const keepAliveCommentMs = 15_000;

export interface InferenceOptions {
  registry: ModelRegistry;
  variant: VariantName;
  sampling: ServerSampling;
  /** Maximum silence of a stream before a comment is sent, in milliseconds. */
  keepAliveMs: number;
  now: () => Date;
  /** Hosts from which images may be fetched, in lower case. */
  imageHosts: ReadonlySet<string>;
  /** Returns unique letters and digits. */
  newId: () => string;
}

/** What tests choose: the clock, the ids, and the time before a comment. */
export interface InferenceDefaults {
  now?: () => Date;
  newId?: () => string;
  keepAliveCommentMs?: number;
}

export function inferenceOptions(
  config: ServerConfig,
  { registry, ...given }: InferenceDefaults & Pick<InferenceOptions, "registry">,
): InferenceOptions {
  return {
    registry,
    variant: config.variant,
    sampling: serverSampling(config.sampling),
    imageHosts: new Set(config.allowImageHosts),
    keepAliveMs: given.keepAliveCommentMs ?? keepAliveCommentMs,
    now: given.now ?? (() => new Date()),
    newId: given.newId ?? (() => randomUUID().replaceAll("-", "")),
  };
}

interface LeaseRequest {
  /** Id or alias. */
  model: string | undefined;
  /** How many generations it will run. Default: 1. */
  places?: number;
  /** Without an id, any served model will do. Default: false, there must be only one. */
  mayMeanAny?: boolean;
}

/**
 * Leases the model that a request names, or the served one if the request may omit it, with a place in the waiting queue for each
 * generation. The lease is held until the response is sent or the client has gone. Throws the registry's errors and the reason of
 * the request's signal.
 */
export async function leaseModel(
  request: FastifyRequest,
  { registry, variant }: Pick<InferenceOptions, "registry" | "variant">,
  { model, places = 1, mayMeanAny = false }: LeaseRequest,
): Promise<Lease> {
  const { clientSignal: signal } = request;
  signal.throwIfAborted();
  if (model === undefined && !mayMeanAny && !isModelObvious(request, { registry, variant }))
    throw modelMissing();
  const lease = await registry.acquire(model, variant, {
    signal,
    places,
    mayUse: request.mayUse,
    isBackground: request.isBackground,
  });
  request.atEnd(() => lease[Symbol.dispose]());
  request.outcome.model = lease.id;
  request.tracked?.hasModel(lease.model);
  return lease;
}

/** The lease, for vectors and scores. Throws `invalid_request` for an adapter, which only generates text. */
export function refuseAdapter(lease: Lease): Lease {
  if (lease.adapter === undefined) return lease;
  const message = `model is an adapter, which only generates text; use ${lease.id}.`;
  throw new WireError("invalid_request", message, { param: "model" });
}

/** Whether a request without an id can mean one model only. */
function isModelObvious(
  { mayUse }: FastifyRequest,
  { registry, variant }: Pick<InferenceOptions, "registry" | "variant">,
): boolean {
  const { isModelOptional, modelRule } = variants[variant];
  return isModelOptional && (modelRule !== "known" || registry.slots.filter(mayUse).length === 1);
}

function modelMissing(): WireError {
  const message = "model is missing: give one of the ids that GET /v1/models lists.";
  return new WireError("invalid_request", message, { param: "model" });
}

/** The options for reading the images of this request. */
export function imageReading(
  { clientSignal: signal, ignore }: FastifyRequest,
  { imageHosts }: Pick<InferenceOptions, "imageHosts">,
): ImageReading {
  return { allowedHosts: imageHosts, signal, ignore };
}

/** The model's id, with the adapter or profile that the request names. */
function requestedName({ id, adapter, profile = adapter }: Lease): string {
  return profile === undefined ? id : variantId(id, profile);
}

export function responseHead(
  idPrefix: string,
  lease: Lease,
  { now, newId }: Pick<InferenceOptions, "now" | "newId">,
): ResponseHead {
  return {
    id: `${idPrefix}${newId()}`,
    created: toUnixSeconds(now()),
    model: requestedName(lease),
    system_fingerprint: systemFingerprint(lease.model),
  };
}
