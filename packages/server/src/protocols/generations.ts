// What all routes that generate do the same way: take a model, start the generations and have them watched, wait for
// them. A route adds what is its protocol's own. Used by the routes that generate.
import type { Generation, GenerationRequest } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import type { ImageReading } from "../images/image-files.ts";
import type { Lease, ModelRegistry } from "../models/registry.ts";
import { fingerprintOf, type ResponseFields } from "./usage.ts";
import { watchGenerations, type WatchedGeneration } from "./watch-generations.ts";
import { variants, type VariantName } from "../variants.ts";
import { WireError } from "../wire-error.ts";

/** What a route that generates is given when the server is put together. */
export interface InferenceOptions {
  registry: ModelRegistry;
  variant: VariantName;
  /** Longest silence of a stream before a comment is sent, in milliseconds. */
  keepAliveMs: number;
  now: () => Date;
  /** Hosts that images are fetched from, in lower case. */
  imageHosts: ReadonlySet<string>;
  /** Letters and digits that nothing else is named. */
  newId: () => string;
}

interface Wanted {
  model: string | undefined;
  places?: number;
  /** Without an id, any model that is served will do. */
  mayMeanAny?: boolean;
}

/** Whether a request without an id can mean one model only. */
function meansOne({ registry, variant }: Pick<InferenceOptions, "registry" | "variant">): boolean {
  const { isModelOptional, modelRule } = variants[variant];
  return isModelOptional && (modelRule !== "known" || registry.slots.length === 1);
}

function modelMissing(): WireError {
  const message = "model is missing: give one of the ids that GET /v1/models lists.";
  return new WireError("invalid_request", message, { param: "model" });
}

/**
 * The model that a request names, or the one that is served where it may name none, held until the reply is out or its
 * client gone, with a place in the line for each generation. Throws what the registry refuses with, and the client's leaving.
 */
export async function leaseModel(
  request: FastifyRequest,
  { registry, variant }: Pick<InferenceOptions, "registry" | "variant">,
  { model, places = 1, mayMeanAny = false }: Wanted,
): Promise<Lease> {
  const { clientSignal: signal } = request;
  signal.throwIfAborted();
  if (model === undefined && !mayMeanAny && !meansOne({ registry, variant })) throw modelMissing();
  const lease = await registry.acquire(model, variant, { signal, places });
  request.atEnd(() => lease[Symbol.dispose]());
  request.outcome.model = lease.id;
  request.tracked?.hasModel(lease.model);
  return lease;
}

/** How the images of this request are read. */
export function imageReading(
  { clientSignal: signal }: FastifyRequest,
  { imageHosts }: Pick<InferenceOptions, "imageHosts">,
): ImageReading {
  return { allowedHosts: imageHosts, signal };
}

interface Asked extends Omit<WatchedGeneration, "model"> {
  user?: string | undefined;
}

/** What every chunk of an answer begins with; its id begins with `kind`. */
export function responseFields(
  kind: string,
  lease: Lease,
  { now, newId }: Pick<InferenceOptions, "now" | "newId">,
): ResponseFields {
  return {
    id: `${kind}-${newId()}`,
    created: Math.floor(now().getTime() / 1000),
    model: lease.id,
    system_fingerprint: fingerprintOf(lease.model),
  };
}

/**
 * One generation for each of `requests`, in their order; they end when the client leaves, and with the first that fails:
 * nobody is answered with what is left.
 */
export function startGenerations(
  request: FastifyRequest,
  lease: Lease,
  requests: readonly GenerationRequest[],
  { user, ...watched }: Asked,
): Generation[] {
  const generations = requests.map((each) => generate(request, lease, each, user));
  void endTogether(generations); // never rejects
  // Never rejects: it only watches.
  void watchGenerations(request, generations, { ...watched, model: lease.id });
  return generations;
}

/** The same for a protocol with one reply to a request. */
export function startGeneration(
  request: FastifyRequest,
  lease: Lease,
  { user, ...watched }: Asked & { sampling: GenerationRequest },
): Generation {
  const generation = generate(request, lease, watched.sampling, user);
  void watchGenerations(request, [generation], { ...watched, model: lease.id }); // only watches
  return generation;
}

function generate(
  request: FastifyRequest,
  { model }: Lease,
  sampling: GenerationRequest,
  user: string | undefined,
): Generation {
  return model.generate(sampling, { signal: request.clientSignal, client: request.clientKey(user) });
}

/** As many requests as replies are wanted: each has a seed of its own, all of them follow from the one given. */
export function repeated(request: GenerationRequest, count: number): GenerationRequest[] {
  const { seed } = request;
  return Array.from({ length: count }, (_, index) =>
    seed === undefined ? request : { ...request, seed: seedAt(index, seed) },
  );
}

/** Downwards where there is no next integer. */
function seedAt(index: number, seed: number): number {
  return Number.isSafeInteger(seed + index) ? seed + index : seed - index;
}

/** Leaving an iterator would not do: it hears of that with its next piece, which may be minutes away in line. */
async function endTogether(generations: readonly Generation[]): Promise<void> {
  try {
    await Promise.all(generations);
  } catch (error) {
    for (const generation of generations) generation.cancel(error);
  }
}
