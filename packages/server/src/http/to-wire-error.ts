// Converts any thrown value to a wire error. The protocol's table of errors has the status and type of each code.
import { EngineError, type EngineErrorCode } from "@ingle/engine";
import type { ErrorBody, WireErrorCode } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";

/** An API's names for the engine's fields, for errors that name one. Default: the engine's own. */
export type FieldNames = Readonly<Record<string, string>>;

/** Writes the whole body of an error in an API's form. */
export type ErrorShape = (body: ErrorBody, request: ErrorRequest) => object;

/** What an error's shape may depend on. */
export interface ErrorRequest {
  id: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A new engine code does not compile until it is mapped here. */
const codeOfEngine = {
  invalid_request: "invalid_request",
  image_invalid: "image_invalid",
  image_too_large: "payload_too_large",
  template_failed: "invalid_request",
  context_length_exceeded: "context_length_exceeded",
  overloaded: "overloaded",
  generation_not_supported: "generation_not_supported",
  image_not_supported: "image_not_supported",
  audio_invalid: "audio_invalid",
  audio_too_large: "payload_too_large",
  audio_not_supported: "audio_not_supported",
  projector_mismatch: "engine_failed",
  adapter_mismatch: "engine_failed",
  reranking_not_supported: "reranking_not_supported",
  embeddings_not_supported: "embeddings_not_supported",
  out_of_memory: "out_of_memory",
  disposed: "shutting_down",
  model_not_found: "model_not_found",
  model_invalid: "engine_failed",
  model_unsupported: "engine_failed",
  engine_failed: "engine_failed",
  engine_crashed: "engine_crashed",
  worker_lost: "worker_lost",
  worker_unreachable: "worker_unreachable",
  worker_refused: "worker_refused",
  native_missing: "engine_failed",
  download_failed: "engine_failed",
  integrity_failed: "engine_failed",
  disk_full: "disk_full",
  library_locked: "engine_failed",
  library_invalid: "engine_failed",
} as const satisfies Record<EngineErrorCode, WireErrorCode>;

/** Fastify's own errors; the sentence is ours, so that it never contains a part of the body. */
const fastifyErrors: Readonly<Record<string, { code: WireErrorCode; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "unsupported_media_type",
    message: "The body must be JSON, sent with Content-Type: application/json.",
  },
};

/** Converts a thrown value. The message of an unexpected error stays in the log. */
export function toWireError(thrown: unknown, fieldNames: FieldNames = {}): WireError {
  if (thrown instanceof WireError) return thrown;
  if (EngineError.is(thrown)) return fromEngine(thrown, fieldNames);
  if (thrown instanceof Error) {
    const known = fastifyErrors[messageNaming(thrown, "code")];
    if (known !== undefined) return new WireError(known.code, known.message, { cause: thrown });
    if (isClientError(thrown)) return new WireError("invalid_request", thrown.message, { cause: thrown });
  }
  return new WireError("internal", "Something went wrong in the server; its log has the reason.", {
    cause: thrown,
  });
}

function fromEngine(error: EngineError, fieldNames: FieldNames): WireError {
  const { param, promptTokens, contextLength } = error.details;
  const isNamed = typeof param === "string" && param !== "";
  const field = isNamed ? wireName(param, fieldNames) : undefined;
  // The engine's message begins with its own name for the field, and may mention others.
  const message =
    isNamed && error.message.startsWith(`${param}: `)
      ? `${field}${error.message.slice(param.length)}`.replaceAll(
          /\b[a-z]+[A-Z]\w*/g,
          (name) => fieldNames[name] ?? name,
        )
      : error.message;
  return new WireError(wireCode(error), message, {
    param: field,
    n_prompt_tokens: typeof promptTokens === "number" ? promptTokens : undefined,
    n_ctx: typeof contextLength === "number" ? contextLength : undefined,
    cause: error,
  });
}

/** A download that failed names the hub or the registry as its endpoint, if that was the reason. */
function wireCode({ code, details }: EngineError): WireErrorCode {
  return code === "download_failed" && "endpoint" in details ? "hub_unreachable" : codeOfEngine[code];
}

/** Fields inside a tool have other names in each API: the error names only `tools`. */
function wireName(param: string, fieldNames: FieldNames): string {
  if (param.startsWith("adapters[")) return param.replace("adapters", "lora");
  return fieldNames[param] ?? (param.startsWith("tools.") ? "tools" : param);
}

function messageNaming(error: Error, field: string): string {
  const value: unknown = Reflect.get(error, field);
  return typeof value === "string" ? value : "";
}

function isClientError(error: Error): boolean {
  const status: unknown = Reflect.get(error, "statusCode");
  return typeof status === "number" && status >= 400 && status < 500;
}
