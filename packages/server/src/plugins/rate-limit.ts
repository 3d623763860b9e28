// Limits the requests per minute of one key, or of one address if no key is needed. The waiting queue limits the work; this
// limits how often a client may try.
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { clientNetwork } from "../access/ip-address.ts";
import { WireError } from "../wire-error.ts";

const windowMs = 60_000;
/** Maximum number of clients counted at once; beyond that, the one idle longest is forgotten. */
const clientsMax = 10_000;

interface RateLimitOptions {
  /** 0 disables the limit. */
  requestsPerMinute: number;
}

export const rateLimit = fp(
  async (app: FastifyInstance, { requestsPerMinute }: RateLimitOptions) => {
    if (requestsPerMinute === 0) return;
    const { default: fastifyRateLimit } = await import("@fastify/rate-limit");
    await app.register(fastifyRateLimit, {
      max: requestsPerMinute,
      timeWindow: windowMs,
      cache: clientsMax,
      // Keys are hexadecimal digests: no address looks like one.
      keyGenerator: ({ key, ip }: FastifyRequest) => key?.digest ?? clientNetwork(ip),
      allowList: ({ routeOptions, isInner }: FastifyRequest) =>
        isInner || routeOptions.config.right === "none",
      errorResponseBuilder: (_request, { ttl }) =>
        new WireError(
          "rate_limited",
          `This is more than ${requestsPerMinute} requests a minute; slow down.`,
          {
            retryAfterSeconds: Math.ceil(ttl / 1000),
          },
        ),
    });
  },
  { name: "rate-limit", dependencies: ["auth", "background"] },
);
