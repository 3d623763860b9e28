// Reads bodies as JSON in UTF-8 and checks them by the schema of their route, large ones in a thread of their own, so that other
// requests do not wait. A malformed body is an error; nothing is repaired.
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { z } from "zod";
import { BodyWorkers } from "../bodies/body-workers.ts";
import { checkBody, type CheckedBody } from "../bodies/check-body.ts";
import { receiveBody } from "../bodies/receive-body.ts";
import { isShapeError, shapeOf } from "@ingle/protocol/json-shape";
import { WireError } from "../wire-error.ts";

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
    const shape = shapeOf(bytes);
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
