// With keys configured, a request needs one of them; without, any bearer token is accepted and ignored.
import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { digestOfKey } from "../api-key.ts";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Probes of the platform carry no key. */
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** The configured key that let this request in, as a digest in hexadecimal; null where none was asked for. */
    readonly keyDigest: string | null;
  }
}

export const auth = fp(
  async (app: FastifyInstance, options: { keyDigests: readonly string[] }) => {
    app.decorateRequest("keyDigest", null);
    if (options.keyDigests.length === 0) return;
    const digests = options.keyDigests.map((digest) => Buffer.from(digest, "hex"));

    app.addHook("onRequest", async (request) => {
      if (request.routeOptions.config.isPublic === true) return;
      const token = bearerToken(request);
      const candidate = token === undefined ? undefined : digestOfKey(token);
      if (candidate !== undefined && isKnown(Buffer.from(candidate, "hex"), digests)) {
        request.setDecorator<string | null>("keyDigest", candidate);
        return;
      }
      const message =
        token === undefined ? "This server needs an API key." : "This API key is not known here.";
      throw new WireError("unauthorized", `${message} Send it as "Authorization: Bearer <key>".`);
    });
  },
  { name: "auth" },
);

function bearerToken(request: FastifyRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Looks at every key, however early one fits: the time taken tells nothing. */
function isKnown(candidate: Buffer, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const known of digests) found = timingSafeEqual(candidate, known) || found;
  return found;
}
