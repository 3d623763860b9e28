// A failure that already knows its wire code: thrown by the server's own rooms, answered by plugins/errors.ts.
import type { ErrorBodyDetails, WireErrorCode } from "@ingle/protocol";

/** Seconds after which a client may try again; existing clients honour it. */
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
