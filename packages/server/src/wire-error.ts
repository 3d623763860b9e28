// An error with a wire code, thrown anywhere in the server. plugins/errors.ts sends it.
import type { ErrorBodyDetails, WireErrorCode } from "@ingle/protocol";

/** Seconds after which to try again, sent as `retry-after`. */
export interface RetryHint {
  retryAfterSeconds?: number | undefined;
}

export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: WireErrorCode;
  readonly details: ErrorBodyDetails & RetryHint;

  constructor(
    code: WireErrorCode,
    message: string,
    options: ErrorBodyDetails & RetryHint & { cause?: unknown } = {},
  ) {
    const { cause, ...details } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}
