// The model of a request of LM Studio's API v0: leased, and unloaded after as many seconds without use as the request says.
import type { FastifyRequest } from "fastify";
import { includes } from "../../access/rights.ts";
import type { Lease } from "../../models/registry.ts";
import { leaseModel, type InferenceOptions } from "../inference.ts";

/** Throws what `leaseModel` throws. Only a request that may manage models decides how long one stays. */
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
