// The replies that this page is writing.
import type { McpApproval } from "@ingle/protocol";
import { signal, type Signal } from "@preact/signals";

import type { ReplyFigures, ToolStep } from "./conversation.ts";

/** A reply that this page is writing. */
export interface LiveReply {
  readonly id: string;
  readonly conversationId: string;
  readonly text: Signal<string>;
  readonly thinking: Signal<string>;
  /** How long it thought; null until its text begins. */
  readonly thinkingMs: Signal<number | null>;
  readonly figures: Signal<ReplyFigures | null>;
  /** What came before the text: each step ends with calls. */
  readonly steps: Signal<readonly ToolStep[]>;
  /** The call that the user has to decide about. */
  readonly question: Signal<CallQuestion | null>;
  /** The id of its response, once the server has begun it. */
  readonly responseId: Signal<string | null>;
  /** The document that is read for passages before the request is sent. */
  readonly reading: Signal<ReadingProgress | null>;
  /** Aborts the request; the text so far stays. */
  stop(): void;
}

export interface CallQuestion {
  callId: string;
  answer: (approval: McpApproval) => void;
}

/** By message id. */
export const liveReplies = signal<ReadonlyMap<string, LiveReply>>(new Map());

/** How far a document is read for its passages. */
export interface ReadingProgress {
  name: string;
  /** Passages. */
  done: number;
  all: number;
}
