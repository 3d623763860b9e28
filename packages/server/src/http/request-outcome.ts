// What becomes known of a request while it is served, for its log line, the metrics and the traces. Whoever learns something
// fills it in; plugins/request-log.ts creates it.
import type { FinishReason, GenerationRequest } from "@ingle/engine";
import type { WireErrorCode } from "@ingle/protocol";

/** A generation, for traces only: the log never has it. */
export interface GenerationNote {
  /** As the GenAI conventions of OpenTelemetry name it. */
  operation: "chat" | "text_completion";
  /** The response's id. */
  responseId: string;
  /** As requested: fields that are absent were not set. */
  sampling: Pick<
    GenerationRequest,
    "maxTokens" | "temperature" | "topP" | "topK" | "seed" | "presencePenalty" | "frequencyPenalty"
  >;
  /** On `performance.now()`'s clock. */
  startedAt: number;
  endedAt?: number;
}

/** Embeddings, for traces only. */
export interface EmbeddingNote extends Pick<GenerationNote, "startedAt" | "endedAt"> {
  operation: "embeddings";
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
  /** Names of the fields that the request has set and the response does not follow. */
  ignored?: readonly string[];
  generation?: GenerationNote | EmbeddingNote;
  /** Set when the request failed, also inside a stream that began as a 200. */
  code?: WireErrorCode;
  /** The client stopped reading its response and was disconnected. */
  isReaderStalled?: boolean;
  /** What was thrown, where the fault is the server's. */
  error?: unknown;
}
