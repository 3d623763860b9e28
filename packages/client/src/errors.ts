// The client's errors. An aborted call rejects with the signal's reason instead.
import type { ChatCompletionBody, WireErrorCode } from "@ingle/protocol";

const marker = Symbol.for("ingle.client.error");

function errorKind(value: unknown): unknown {
  return typeof value === "object" && value !== null && marker in value ? value[marker] : undefined;
}

/** The base of the client's errors. `IngleError.is(error)` also recognizes errors from another copy of this package. */
export class IngleError extends Error {
  override readonly name: string = "IngleError";

  /** The class's name, by which copies of this package recognize each other's errors. */
  get [marker](): string {
    return this.name;
  }

  /** Whether `value` is any error of this client. */
  static is(value: unknown): value is IngleError {
    return errorKind(value) !== undefined;
  }
}

interface ApiErrorDetails {
  status: number;
  code: string | null;
  type: string | null;
  param: string | null;
  requestId: string | null;
  retryAfterMs: number | undefined;
  promptTokens: number | undefined;
  contextLength: number | undefined;
}

/** The server responded with an error, or with something that is not a response of this API. */
export class ApiError extends IngleError {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** The error code, for programs; `null` if the response has none. */
  readonly code: WireErrorCode | (string & {}) | null;
  /** The family of the code. */
  readonly type: string | null;
  /** The wrong field of the request, if there is one. */
  readonly param: string | null;
  /** The response's `x-request-id`, which the server's log contains too. */
  readonly requestId: string | null;
  /** The time to wait before the next attempt, in milliseconds, if the server gave one. */
  readonly retryAfterMs: number | undefined;
  /** With `context_length_exceeded`: tokens of the prompt. */
  readonly promptTokens: number | undefined;
  /** With `context_length_exceeded`: the maximum number of tokens per request. */
  readonly contextLength: number | undefined;

  constructor(message: string, details: ApiErrorDetails) {
    super(message);
    this.status = details.status;
    this.code = details.code;
    this.type = details.type;
    this.param = details.param;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.promptTokens = details.promptTokens;
    this.contextLength = details.contextLength;
  }

  static override is(value: unknown): value is ApiError {
    return errorKind(value) === "ApiError";
  }
}

/** The server could not be reached, or the connection broke. `cause` is the error of `fetch`. */
export class ConnectionError extends IngleError {
  override readonly name = "ConnectionError";

  static override is(value: unknown): value is ConnectionError {
    return errorKind(value) === "ConnectionError";
  }
}

/** The server was silent for longer than `timeoutMs`. */
export class TimeoutError extends IngleError {
  override readonly name = "TimeoutError";
  /** The limit that was exceeded, in milliseconds. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`the server sent nothing for ${timeoutMs} ms; raise timeoutMs if it needs longer`);
    this.timeoutMs = timeoutMs;
  }

  static override is(value: unknown): value is TimeoutError {
    return errorKind(value) === "TimeoutError";
  }
}

/** A stream started and failed: the received part of the reply is incomplete. */
export class StreamError extends IngleError {
  override readonly name = "StreamError";
  /**
   * The server's error code; `stream_incomplete` for an end without `[DONE]`, `stream_invalid` for data that is not a reply,
   * `stream_aborted` after `abort()` or leaving the loop.
   */
  readonly code: WireErrorCode | "stream_incomplete" | "stream_invalid" | "stream_aborted" | (string & {});
  /** The `type` of the server's error event. */
  readonly type: string | null;

  constructor(message: string, code: string, type: string | null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.type = type;
  }

  static override is(value: unknown): value is StreamError {
    return errorKind(value) === "StreamError";
  }
}

/** One mismatch between a value and a schema. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type ParseErrorCode = "reply_cut" | "reply_not_json" | "reply_mismatch";

/** A reply does not match the requested schema. */
export class ParseError extends IngleError {
  override readonly name = "ParseError";
  /** `reply_cut` by its token limit, `reply_not_json`, or `reply_mismatch` with the schema. */
  readonly code: ParseErrorCode;
  /** The received text of the reply. */
  readonly text: string;
  /** With `reply_mismatch`: the mismatches. */
  readonly issues: readonly SchemaIssue[];

  constructor(
    message: string,
    details: { code: ParseErrorCode; text: string; issues?: readonly SchemaIssue[] },
  ) {
    super(message);
    this.code = details.code;
    this.text = details.text;
    this.issues = details.issues ?? [];
  }

  static override is(value: unknown): value is ParseError {
    return errorKind(value) === "ParseError";
  }
}

/** `runTools` reached its limit while the model was still calling tools. */
export class ToolRoundsError extends IngleError {
  override readonly name = "ToolRoundsError";
  /** The limit. */
  readonly roundsMax: number;
  /** The conversation so far, which ends with the results of the tools. */
  readonly messages: ChatCompletionBody["messages"];

  constructor(roundsMax: number, messages: ChatCompletionBody["messages"]) {
    super(`the model still called tools after ${roundsMax} replies; raise roundsMax if it needs more`);
    this.roundsMax = roundsMax;
    this.messages = messages;
  }

  static override is(value: unknown): value is ToolRoundsError {
    return errorKind(value) === "ToolRoundsError";
  }
}
