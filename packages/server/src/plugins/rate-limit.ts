// Requests a minute of one key, or of one address where no keys are asked for. The line of waiting requests bounds the
// work; this bounds how often somebody may knock.
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { networkOf } from "../access/ip-address.ts";
import { WireError } from "../wire-error.ts";

const windowMs = 60_000;
/** Clients that are counted at the same time; beyond it the one that has been silent longest is forgotten. */
const clientsMax = 10_000;

export interface RateLimitOptions {
  /** 0 is no limit. */
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
      // Keys are digests in hexadecimal: no address looks like one.
      keyGenerator: ({ keyDigest, ip }: FastifyRequest) => keyDigest ?? networkOf(ip),
      allowList: ({ routeOptions }: FastifyRequest) => routeOptions.config.right === "none",
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
  { name: "rate-limit", dependencies: ["auth"] },
);
