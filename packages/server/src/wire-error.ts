// An error with a wire code, thrown anywhere in the server. plugins/errors.ts sends it.
import type { ErrorBodyDetails, WireErrorCode } from "@ingle/protocol";

/** What a client can do about the error, in headers of the response. */
interface ErrorHints {
  /** Seconds after which to try again, sent as `retry-after`. */
  retryAfterSeconds?: number | undefined;
  /** The content codings of bodies that are supported, sent as `accept-encoding`. */
  acceptEncoding?: string | undefined;
}

export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: WireErrorCode;
  readonly details: ErrorBodyDetails & ErrorHints;

  constructor(
    code: WireErrorCode,
    message: string,
    options: ErrorBodyDetails & ErrorHints & { cause?: unknown } = {},
  ) {
    const { cause, ...details } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}
