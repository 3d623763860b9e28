// Sends any thrown value as an HTTP error: its wire code, the code's status, and a body in the shape of the route's API.
import { errorBody, isFinalError, wireErrors, type ErrorBody } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toWireError, type ErrorShape, type FieldNames } from "../http/to-wire-error.ts";
import type { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route's names for the engine's fields. Default: the engine's. */
    fieldNames?: FieldNames;
    /** Also shapes errors from before the route's handler. Default: `ErrorBody` as it is. */
    errorShape?: ErrorShape;
  }
  interface FastifyRequest {
    /**
     * Notes an error for the log line, and returns its body before the route's `errorShape` is applied. For errors
     * after the first event of a stream: the error handler calls it for all others.
     */
    readonly failWith: (thrown: unknown) => ErrorBody;
  }
}

/** Seconds after which to try again, if a temporary error does not say when. */
const retryAfterDefault = 2;

interface ErrorOptions {
  /** The shape of errors for a request that no route takes. */
  shapeOfUnknown: (request: FastifyRequest) => ErrorShape | undefined;
}

export const errors = fp(
  async (app: FastifyInstance, { shapeOfUnknown }: ErrorOptions) => {
    app.decorateRequest("failWith", function (this: FastifyRequest, thrown: unknown): ErrorBody {
      return toBody(noteError(thrown, this));
    });
    app.setErrorHandler((thrown: unknown, request, reply) => {
      const { is404, routeOptions } = request;
      return sendError(
        thrown,
        request,
        reply,
        is404 ? shapeOfUnknown(request) : routeOptions.config.errorShape,
      );
    });
  },
  { name: "errors", dependencies: ["request-log"] },
);

function sendError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  shape: ErrorShape | undefined,
): FastifyReply {
  const error = noteError(thrown, request);
  const { status } = wireErrors[error.code];
  const isPassing = status === wireErrors.overloaded.status || status === wireErrors.shutting_down.status;
  const retryAfter = error.details.retryAfterSeconds ?? (isPassing ? retryAfterDefault : undefined);
  if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
  if (error.details.acceptEncoding !== undefined)
    reply.header("accept-encoding", error.details.acceptEncoding);
  // The client libraries of OpenAI and Anthropic follow it.
  if (isFinalError(error.code)) reply.header("x-should-retry", "false");
  if (error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  // A stream that fails before its first event has already set the headers of a stream.
  reply.removeHeader("cache-control").header("content-type", "application/json; charset=utf-8");
  const body = toBody(error);
  return reply.code(status).send(shape?.(body, request) ?? body);
}

/** Records the error for the request's log line; the cause only if the fault is the server's. */
function noteError(thrown: unknown, request: FastifyRequest): WireError {
  const error = toWireError(thrown, request.routeOptions.config.fieldNames);
  request.outcome.code = error.code;
  // A hub that cannot be reached is no fault of this server: the message says all that its stack would.
  if (wireErrors[error.code].status >= wireErrors.internal.status && error.code !== "hub_unreachable")
    request.outcome.error = error.cause ?? error;
  return error;
}

function toBody(error: WireError): ErrorBody {
  return errorBody(error.code, error.message, error.details);
}
