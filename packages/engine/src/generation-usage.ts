// The tokens and the time that a generation took.

/** Counts of tokens. */
export interface Usage {
  promptTokens: number;
  /** Prompt tokens that stand for audio. */
  audioTokens: number;
  completionTokens: number;
  /** Tokens of the reply that were spent on reasoning, including all tokens of the piece in which the reasoning ends. */
  reasoningTokens: number;
  /** Prompt tokens that came from the prefix cache. */
  cachedTokens: number;
  /**
   * Tokens of the prompt and the reply that context shifts dropped (`contextOverflow: "shift"`). `promptTokens` does not count
   * tokens that were dropped before the prompt was computed.
   */
  droppedTokens: number;
  /** Tokens that were drafted for the reply (speculative decoding). */
  draftedTokens: number;
  /** Drafted tokens that were accepted. */
  acceptedTokens: number;
}

/** Milliseconds, measured on the engine's thread. */
export interface GenerationTimings {
  /** From submission until the prefill began. */
  queueMs: number;
  /** From then until the first token of the reply. */
  promptMs: number;
  /** From the first token of the reply to the last. */
  predictedMs: number;
}
