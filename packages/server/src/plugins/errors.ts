// Any thrown value becomes a wire code here, and only here a code becomes an HTTP answer.
// The statuses stand in the protocol's table; docs/errors.md explains the codes.
import { EngineError, type EngineErrorCode } from "@ingle/engine";
import { errorBody, wireErrors, type ErrorBody, type WireErrorCode } from "@ingle/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toWireParam } from "../protocols/chat/request.ts";
import { WireError } from "../wire-error.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route's names of the engine's fields, where they are not those of a chat request. */
    paramNames?: Readonly<Record<string, string>>;
    /**
     * Makes the whole body of an error, for a protocol that has a form of its own. What goes wrong before the route's
     * handler has it, too.
     */
    errorForm?: (body: ErrorBody, request: Pick<FastifyRequest, "id" | "headers">) => object;
  }
}

/** A new code of the engine does not compile until it has its place here. */
const codeOfEngine = {
  invalid_request: "invalid_request",
  image_invalid: "image_invalid",
  image_too_large: "payload_too_large",
  template_failed: "invalid_request",
  context_length_exceeded: "context_length_exceeded",
  overloaded: "overloaded",
  generation_not_supported: "generation_not_supported",
  image_not_supported: "image_not_supported",
  projector_mismatch: "engine_failed",
  embeddings_not_supported: "embeddings_not_supported",
  out_of_memory: "out_of_memory",
  disposed: "shutting_down",
  model_not_found: "model_not_found",
  model_invalid: "engine_failed",
  model_unsupported: "engine_failed",
  engine_failed: "engine_failed",
  worker_lost: "worker_lost",
  worker_unreachable: "worker_unreachable",
  worker_refused: "worker_refused",
  native_missing: "engine_failed",
  download_failed: "engine_failed",
  integrity_failed: "engine_failed",
  disk_full: "engine_failed",
  library_locked: "engine_failed",
  library_invalid: "engine_failed",
} as const satisfies Record<EngineErrorCode, WireErrorCode>;

/** What Fastify itself refuses; the sentence is ours, so that it never holds a part of the body. */
const fastifyErrors: Readonly<Record<string, { code: WireErrorCode; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "unsupported_media_type",
    message: "The body must be JSON, sent with Content-Type: application/json.",
  },
};

/** Seconds until another try, for errors that pass and do not say when. */
const retryAfterDefault = 2;

export const errors = fp(
  async (app: FastifyInstance) => {
    app.setErrorHandler((thrown, request, reply) => answerError(thrown, request, reply));
  },
  { name: "errors", dependencies: ["request-log"] },
);

/** Sends the HTTP form of whatever was thrown. */
function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = noteError(thrown, request);
  const { status } = wireErrors[error.code];
  const mayPass = status === wireErrors.overloaded.status || status === wireErrors.shutting_down.status;
  const retryAfter = error.details.retryAfterSeconds ?? (mayPass ? retryAfterDefault : undefined);
  if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
  if (error.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  // A stream that fails before its first event has already said that it would be one.
  reply.removeHeader("cache-control").header("content-type", "application/json; charset=utf-8");
  const body = toBody(error);
  return reply.code(status).send(request.routeOptions.config.errorForm?.(body, request) ?? body);
}

/** What the event says that ends a stream early; a route whose protocol has a form of its own puts it into that. */
export function lateErrorBody(thrown: unknown, request: FastifyRequest): ErrorBody {
  return toBody(noteError(thrown, request));
}

/**
 * Gives any thrown value its wire code. What nobody foresaw keeps its words to the log. `paramNames` are the route's
 * names of the engine's fields, before those of a chat request.
 */
export function toWireError(thrown: unknown, paramNames: FastifyContextConfig["paramNames"] = {}): WireError {
  if (thrown instanceof WireError) return thrown;
  if (EngineError.is(thrown)) return fromEngine(thrown, paramNames);
  if (thrown instanceof Error) {
    const known = fastifyErrors[textOf(thrown, "code")];
    if (known !== undefined) return new WireError(known.code, known.message, { cause: thrown });
    if (isClientError(thrown)) return new WireError("invalid_request", thrown.message, { cause: thrown });
  }
  return new WireError("internal", "Something went wrong inside the server; its log tells what.", {
    cause: thrown,
  });
}

function fromEngine(error: EngineError, paramNames: Readonly<Record<string, string>>): WireError {
  const { param, promptTokens, contextLength } = error.details;
  const isNamed = typeof param === "string" && param !== "";
  const field = isNamed ? (paramNames[param] ?? toWireParam(param)) : undefined;
  // The engine's sentence begins with the name that the field has there.
  const message =
    isNamed && error.message.startsWith(`${param}: `)
      ? `${field}${error.message.slice(param.length)}`
      : error.message;
  return new WireError(codeOfEngine[error.code], message, {
    param: field,
    n_prompt_tokens: typeof promptTokens === "number" ? promptTokens : undefined,
    n_ctx: typeof contextLength === "number" ? contextLength : undefined,
    cause: error,
  });
}

/** Keeps what happened for the request's log line; the cause only where it is our fault. */
function noteError(thrown: unknown, request: FastifyRequest): WireError {
  const error = toWireError(thrown, request.routeOptions.config.paramNames);
  request.outcome.code = error.code;
  if (wireErrors[error.code].status >= wireErrors.internal.status)
    request.outcome.error = error.cause ?? error;
  return error;
}

function toBody(error: WireError): ErrorBody {
  return errorBody(error.code, error.message, error.details);
}

function textOf(error: Error, field: string): string {
  const value: unknown = Reflect.get(error, field);
  return typeof value === "string" ? value : "";
}

function isClientError(error: Error): boolean {
  const status: unknown = Reflect.get(error, "statusCode");
  return typeof status === "number" && status >= 400 && status < 500;
}
