// Every error the client throws of its own. An aborted call rejects with the signal's own reason instead.
import type { ChatCompletionBody, WireErrorCode } from "@ingle/protocol";

import type { SchemaIssue } from "./schema.ts";

const marker = Symbol.for("ingle.client.error");

function kindOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && marker in value ? value[marker] : undefined;
}

/** The base of the client's errors. `IngleError.is(error)` also knows errors from another copy of this package. */
export class IngleError extends Error {
  override readonly name: string = "IngleError";

  /** The class's name, by which copies of this package recognise each other's errors. */
  get [marker](): string {
    return this.name;
  }

  /** Whether `value` is any error of this client. */
  static is(value: unknown): value is IngleError {
    return kindOf(value) !== undefined;
  }
}

/** What an `ApiError` knows beside its message. */
export interface ApiErrorDetails {
  status: number;
  code: string | null;
  type: string | null;
  param: string | null;
  requestId: string | null;
  retryAfterMs: number | undefined;
  promptTokens: number | undefined;
  contextLength: number | undefined;
}

/** The server answered with an error, or with something that is no answer of this API. */
export class ApiError extends IngleError {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** What went wrong, for programs; `null` when the answer named none. */
  readonly code: WireErrorCode | (string & {}) | null;
  /** The family of the code. */
  readonly type: string | null;
  /** The request's field that was wrong, when one was. */
  readonly param: string | null;
  /** The answer's `x-request-id`, to be found again in the server's log. */
  readonly requestId: string | null;
  /** How long the server asks to wait before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** With `context_length_exceeded`: tokens of the prompt. */
  readonly promptTokens: number | undefined;
  /** With `context_length_exceeded`: tokens that one request may hold. */
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
    return kindOf(value) === "ApiError";
  }
}

/** The server could not be reached, or the connection broke. `cause` is what `fetch` said. */
export class ConnectionError extends IngleError {
  override readonly name = "ConnectionError";

  static override is(value: unknown): value is ConnectionError {
    return kindOf(value) === "ConnectionError";
  }
}

/** The server was silent for longer than `timeoutMs`. */
export class TimeoutError extends IngleError {
  override readonly name = "TimeoutError";
  /** The limit that was passed, in milliseconds. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`the server sent nothing for ${timeoutMs} ms; raise timeoutMs if it needs longer to think`);
    this.timeoutMs = timeoutMs;
  }

  static override is(value: unknown): value is TimeoutError {
    return kindOf(value) === "TimeoutError";
  }
}

/** A stream that began and did not end well: what was received of the reply is not the whole reply. */
export class StreamError extends IngleError {
  override readonly name = "StreamError";
  /**
   * The server's error code; `stream_incomplete` for an end without `[DONE]`, `stream_invalid` for data that make no reply,
   * `stream_aborted` for the end of a stream that `abort()` or leaving its loop ended before.
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
    return kindOf(value) === "StreamError";
  }
}

/** Why a reply is not the value that was asked for. */
export type ParseErrorCode = "reply_cut" | "reply_not_json" | "reply_mismatch";

/** A reply that came well and is not the value that was asked for. */
export class ParseError extends IngleError {
  override readonly name = "ParseError";
  /** `reply_cut` by its limit of tokens, `reply_not_json`, or `reply_mismatch` with the schema. */
  readonly code: ParseErrorCode;
  /** The reply's text, as far as it came. */
  readonly text: string;
  /** With `reply_mismatch`: what is wrong, and where. */
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
    return kindOf(value) === "ParseError";
  }
}

/** `runTools` came to its limit, and the model still called tools. */
export class ToolRoundsError extends IngleError {
  override readonly name = "ToolRoundsError";
  /** The limit that was reached. */
  readonly roundsMax: number;
  /** The conversation so far, to go on with: the last messages are what the tools gave. */
  readonly messages: ChatCompletionBody["messages"];

  constructor(roundsMax: number, messages: ChatCompletionBody["messages"]) {
    super(`the model still called tools after ${roundsMax} replies; raise roundsMax if it needs more`);
    this.roundsMax = roundsMax;
    this.messages = messages;
  }

  static override is(value: unknown): value is ToolRoundsError {
    return kindOf(value) === "ToolRoundsError";
  }
}
