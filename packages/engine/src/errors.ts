// The one error class of the engine. Test it by `error.code` or `EngineError.is(error)`, never by its message:
// two copies of this package in one program must understand each other's errors.
import type { NativeErrorCode } from "@ingle/engine-native";

/** What went wrong, as a word for programs. The message is the sentence for people. */
export type EngineErrorCode =
  | Exclude<NativeErrorCode, "invalid_argument" | "aborted">
  | "invalid_request"
  | "image_invalid"
  | "image_too_large"
  | "worker_unreachable"
  | "worker_refused"
  | "native_missing"
  | "download_failed"
  | "integrity_failed"
  | "disk_full"
  | "library_locked"
  | "library_invalid";

/** Numbers and names behind an error, such as `promptTokens` and `contextLength`. */
export type EngineErrorDetails = Readonly<Record<string, string | number>>;

const marker = Symbol.for("ingle.EngineError");

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  readonly details: EngineErrorDetails;
  readonly [marker] = true;

  constructor(
    code: EngineErrorCode,
    message: string,
    options: { cause?: unknown; details?: EngineErrorDetails } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  static is(value: unknown): value is EngineError {
    return value instanceof Error && marker in value;
  }
}
