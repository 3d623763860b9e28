// What becomes known about a request while it is served, for its log line, the metrics and the traces. plugins/request-log.ts
// creates it; code that learns something fills it in.
import type { FinishReason, GenerationRequest } from "@ingle/engine";
import type { WireErrorCode } from "@ingle/protocol";

/** A generation, only for traces, never for the log. */
export interface GenerationNote {
  /** The operation's name in OpenTelemetry's GenAI conventions. */
  operation: "chat" | "text_completion";
  /** The response's id. */
  responseId: string;
  /** As requested; absent fields were not set. */
  sampling: Pick<
    GenerationRequest,
    "maxTokens" | "temperature" | "topP" | "topK" | "seed" | "presencePenalty" | "frequencyPenalty"
  >;
  /** On `performance.now()`'s clock. */
  startedAt: number;
  endedAt?: number;
}

/** Embeddings, only for traces; they have no response of their own. */
export interface EmbeddingNote extends Pick<GenerationNote, "startedAt" | "endedAt"> {
  operation: "embeddings";
  responseId?: undefined;
}

export interface RequestOutcome {
  /** On `performance.now()`'s clock. */
  readonly startedAt: number;
  model?: string;
  promptTokens?: number;
  /** Prompt tokens that were found in the prefix cache. */
  cachedTokens?: number;
  completionTokens?: number;
  /** Milliseconds from the engine's queue to the first token. */
  ttftMs?: number;
  finishReason?: FinishReason;
  /** Names of fields that the request sets and the response ignores. */
  ignored?: readonly string[];
  generation?: GenerationNote | EmbeddingNote;
  /** Set when the request failed, also inside a stream that began as a 200. */
  code?: WireErrorCode;
  /** The client stopped reading its response and was disconnected. */
  isReaderStalled?: boolean;
  /** The thrown value, if the fault is the server's. */
  error?: unknown;
}
