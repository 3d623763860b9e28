// Bodies are JSON in UTF-8. Fastify's own parser puts U+FFFD in the place of what is no UTF-8, and calls a refused key
// "no JSON"; this one says what is wrong with a body, and never goes on with another one than was sent.
import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { safeParse } from "secure-json-parse";
import { WireError } from "../wire-error.ts";

export const jsonBody = fp(
  async (app: FastifyInstance) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "application/json",
      { parseAs: "buffer" },
      async (_request: FastifyRequest, bytes: Buffer) => parseBody(bytes),
    );
  },
  { name: "json-body", dependencies: ["errors"] },
);

function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new WireError("invalid_json", "The body is empty; send a JSON object.");
  if (!isUtf8(bytes))
    throw new WireError("invalid_request", "The body is not valid UTF-8; encode its text anew.");
  const text = bytes.toString("utf8");
  const value: unknown = safeParse(text);
  if (value === undefined) throw new WireError("invalid_json", "The body is not valid JSON.");
  // `null` is also its word for a key that would change the prototype of what the object is copied into.
  if (value === null && text.trim() !== "null") {
    const message = 'The body has a key "__proto__", or "prototype" within "constructor"; rename it.';
    throw new WireError("invalid_request", message);
  }
  return value;
}
