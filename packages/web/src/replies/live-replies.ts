// The replies that this page is writing.
import { signal, type Signal } from "@preact/signals";

import type { ReplyFigures } from "../chats/conversation.ts";

export interface LiveReply {
  readonly conversationId: string;
  readonly text: Signal<string>;
  readonly thinking: Signal<string>;
  /** How long it thought; null until its text begins. */
  readonly thinkingMs: Signal<number | null>;
  readonly figures: Signal<ReplyFigures | null>;
  /** Aborts the request; the text so far stays. */
  stop(): void;
}

/** By message id. */
export const liveReplies = signal<ReadonlyMap<string, LiveReply>>(new Map());

export function addLiveReply(id: string, reply: LiveReply): void {
  liveReplies.value = new Map(liveReplies.value).set(id, reply);
}

export function removeLiveReply(id: string): void {
  const left = new Map(liveReplies.value);
  left.delete(id);
  liveReplies.value = left;
}
