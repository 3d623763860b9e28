// Reads bodies as JSON in UTF-8 and checks them by the schema of their route, large ones in a thread of their own, so that other requests
// do not wait. A malformed body is an error; nothing is repaired. The memory of all bodies together is limited, and fields that the
// response ignores are named in a header and in the log line.
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { z } from "zod";
import { BodyWorkers } from "../bodies/body-workers.ts";
import { checkBody, type CheckedBody } from "../bodies/check-body.ts";
import { receiveBody } from "../bodies/receive-body.ts";
import { isShapeError, measureShape } from "@ingle/protocol/json-shape";
import { WireError } from "../wire-error.ts";
import { findIgnoredFields } from "@ingle/protocol";

declare module "fastify" {
  interface FastifyRequest {
    /** Adds names of ignored fields. Call it before the response is sent. */
    readonly ignore: (names: readonly string[]) => void;
    /**
     * Sets how many bytes the request's body takes: first the received bytes, later its parsed values. Throws `overloaded` if all
     * bodies together take too much.
     */
    readonly holdBody: (bytes: number) => void;
    /** Adds bytes that the request takes besides its body, such as stored items. Throws as `holdBody`. */
    readonly holdMore: (bytes: number) => void;
  }
}

export const ignoredHeader = "x-ingle-ignored";

/** Maximum number of names in the header, far below the size limits of headers. */
const namesMax = 16;

/** Names that are safe in a header and in a log: clients choose some of them. */
const plainName = /^[\w.[\]() -]{1,80}$/;

/**
 * Fields that the route's schema does not have are added when the body is read, and those that it marks as ignored before the handler
 * runs; the handler adds its own with `request.ignore()`.
 */
export const ignored = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest("ignore");

    app.addHook("onRequest", async (request) => {
      const { outcome } = request;
      request.setDecorator("ignore", (names: readonly string[]) => {
        const all = new Set([...(outcome.ignored ?? []), ...names.filter((name) => plainName.test(name))]);
        if (all.size > 0) outcome.ignored = [...all].slice(0, namesMax);
      });
    });

    app.addHook("preHandler", async (request) => {
      request.ignore(findIgnoredFields(request.routeOptions.schema?.body, request.body));
    });

    app.addHook("onSend", async (request, reply) => {
      const { ignored: names } = request.outcome;
      if (names !== undefined) reply.header(ignoredHeader, names.join(", "));
    });
  },
  { name: "ignored", dependencies: ["request-log"] },
);

/** Number of bodies of maximum size that fit; ordinary ones are a thousand times smaller. */
const largestBodies = 16;

/**
 * Limits the memory of all bodies together. Each body has its own limit, but thousands of connections may each send a large one
 * slowly: their bytes count from the first one until the response has ended.
 */
export const bodyBudget = fp(
  async (app: FastifyInstance, { bodyBytesMax }: { bodyBytesMax: number }) => {
    const bytesMax = largestBodies * bodyBytesMax;
    let taken = 0;

    app.decorateRequest("holdBody");
    app.decorateRequest("holdMore");
    app.addHook("onRequest", async (request) => {
      let held = 0;
      let isOver = false;
      const hold = (bytes: number): void => {
        if (isOver) return; // the response was sent early; the rest of the body is discarded
        if (bytes > held && taken - held + bytes > bytesMax) {
          throw new WireError(
            "overloaded",
            "The bodies of other requests use all the memory for bodies; try again shortly.",
          );
        }
        taken += bytes - held;
        held = bytes;
      };
      request.setDecorator("holdBody", hold);
      request.setDecorator("holdMore", (bytes: number) => hold(held + bytes));
      request.atEnd(() => {
        isOver = true;
        taken -= held;
      });
    });

    app.addHook("preParsing", async ({ headers, holdBody }) => {
      // json-body refuses a length beyond the limit. Without a length, every piece is counted as it arrives.
      holdBody(Math.min(Number(headers["content-length"] ?? 0), bodyBytesMax));
    });
  },
  { name: "body-budget", dependencies: ["reply-end"] },
);

/** Maximum size of a body that is checked in place: reading its bytes takes less than a millisecond. */
const bytesInPlaceMax = 128 * 1024;
/** Maximum number of values of such a body, numbers included: if all are wrong, checking takes some ten milliseconds. */
const valuesInPlaceMax = 2_000;

export const jsonBody = fp(
  async (app: FastifyInstance, { bodyBytesMax }: { bodyBytesMax: number }) => {
    const workers = new BodyWorkers();
    app.addHook("onClose", () => workers[Symbol.asyncDispose]());
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("application/json", async (request: FastifyRequest, payload: Readable) => {
      const body = await receiveBody(request, payload, { bytesMax: bodyBytesMax, tooLarge });
      const pieces = body.take();
      request.keepBody(pieces);
      const checked = await check(pieces, body.length, request, workers);
      if ("refusal" in checked) {
        const { code, message, param } = checked.refusal;
        throw new WireError(code, message, { param });
      }
      request.ignore(checked.unknownFields);
      request.holdBody(checked.heldBytes);
      return checked.value;
    });
  },
  { name: "json-body", dependencies: ["abort", "body-budget", "errors", "ignored", "live-requests"] },
);

async function check(
  pieces: Uint8Array<ArrayBuffer>[],
  length: number,
  request: FastifyRequest,
  workers: BodyWorkers,
): Promise<CheckedBody> {
  const schema = bodySchema(request);
  if (length <= bytesInPlaceMax) {
    const bytes = Buffer.concat(pieces);
    const shape = measureShape(bytes);
    if (isShapeError(shape) || shape.values + shape.numbers <= valuesInPlaceMax)
      return checkBody(bytes, schema);
  }
  return workers.check({ pieces, schemaId: schema?.meta()?.id }, request.clientSignal);
}

/** Schema of the route's body; unknown paths have none. */
function bodySchema({ routeOptions }: FastifyRequest): z.ZodType | undefined {
  const body: unknown = routeOptions.schema?.body;
  return body instanceof z.ZodType ? body : undefined;
}

function tooLarge(): WireError {
  return new WireError("payload_too_large", "The body is larger than this server accepts.");
}
