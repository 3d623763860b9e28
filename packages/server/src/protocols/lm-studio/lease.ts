// Leases the model for a request of LM Studio's API v0, and sets the idle time in seconds that the request specifies.
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/registry.ts";
import { leaseModel, type InferenceOptions } from "../inference.ts";

/** Throws what `leaseModel` throws. Only a request that may manage models can set the idle time. */
export async function leaseWithTtl(
  { model, ttl }: { model?: string | undefined; ttl?: number | undefined },
  request: FastifyRequest,
  options: Pick<InferenceOptions, "registry" | "variant"> & { places: number },
): Promise<Lease> {
  const { registry, places } = options;
  const lease = await leaseModel(request, options, { model, places });
  if (ttl === undefined) return lease;
  if (includes(request.right, "management")) (await registry.known(lease.id)).idle.choose(ttl * 1000);
  else request.ignore(["ttl"]);
  return lease;
}
