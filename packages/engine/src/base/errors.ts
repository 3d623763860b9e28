// The engine's only error class. Test `EngineError.is(error)` and `error.code`, not the message or `instanceof`: a program may load
// two copies of this package.
import type { NativeErrorCode } from "@ingle/engine-native";
import type { MemoryBytes } from "./memory-bytes.ts";

/** What went wrong, for programs; the message explains it to people. */
export type EngineErrorCode =
  | Exclude<NativeErrorCode, "invalid_argument" | "aborted">
  | "invalid_request"
  | "image_invalid"
  | "adapter_mismatch"
  | "reranking_not_supported"
  | "image_too_large"
  | "audio_too_large"
  | "worker_unreachable"
  | "worker_refused"
  | "native_missing"
  | "download_failed"
  | "integrity_failed"
  | "disk_full"
  | "library_locked"
  | "library_invalid";

/** Numbers and names of an error, such as `promptTokens` and `contextLength`, or the wrong option in `param`. */
export type EngineErrorDetails = Readonly<Record<string, string | number>>;

const marker = Symbol.for("ingle.EngineError");

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  readonly details: EngineErrorDetails;
  /** What `embed()` needed, if its error is `out_of_memory` because the budget did not allow it. */
  readonly neededMemory: MemoryBytes | undefined;
  readonly [marker] = true;

  constructor(
    code: EngineErrorCode,
    message: string,
    options: { cause?: unknown; details?: EngineErrorDetails; neededMemory?: MemoryBytes } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.neededMemory = options.neededMemory;
  }

  static is(value: unknown): value is EngineError {
    return value instanceof Error && marker in value;
  }
}

/** The error for an invalid field or option: `reason` follows its name in the message. */
export function invalidRequest(
  param: string,
  reason: string,
  cause?: unknown,
  details: EngineErrorDetails = {},
): EngineError {
  return new EngineError("invalid_request", `${param}: ${reason}`, { cause, details: { param, ...details } });
}

/** Whether the error is that an engine's process ended: its work may be tried again. */
export function isCrash(error: unknown): error is EngineError {
  return EngineError.is(error) && error.code === "engine_crashed";
}

/** The code of an error of Node or of the system, such as `ENOENT`; undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
