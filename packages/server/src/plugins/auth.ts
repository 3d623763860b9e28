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
      const candidates = keysOf(request).map(digestOfKey);
      const known = candidates.find((candidate) => isKnown(Buffer.from(candidate, "hex"), digests));
      if (known !== undefined) {
        request.setDecorator<string | null>("keyDigest", known);
        return;
      }
      const message =
        candidates.length === 0 ? "This server needs an API key." : "This API key is not known here.";
      throw new WireError(
        "unauthorized",
        `${message} Send it as "Authorization: Bearer <key>" or "x-api-key: <key>".`,
      );
    });
  },
  { name: "auth" },
);

/** The bearer token, and the header that Anthropic's clients send in its place. One that is known is enough. */
function keysOf({ headers }: FastifyRequest): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  return [bearer, headers["x-api-key"]]
    .flat()
    .flatMap((key) => (key === undefined || key === "" ? [] : [key]));
}

/** Looks at every key, however early one fits: the time taken tells nothing. */
function isKnown(candidate: Buffer, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const known of digests) found = timingSafeEqual(candidate, known) || found;
  return found;
}
