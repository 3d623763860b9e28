// The replies that this page is writing now: their text so far, which grows with each frame.
import { signal, type Signal } from "@preact/signals";

import type { ReplyFigures } from "../chats/conversation.ts";

export interface LiveReply {
  readonly conversationId: string;
  readonly text: Signal<string>;
  readonly thinking: Signal<string>;
  /** How long it has thought; null until its answer begins. */
  readonly thinkingMs: Signal<number | null>;
  readonly figures: Signal<ReplyFigures | null>;
  /** Ends the request; what has come stays. */
  stop(): void;
}

/** By the id of their message. */
export const liveReplies = signal<ReadonlyMap<string, LiveReply>>(new Map());

export function addLiveReply(id: string, reply: LiveReply): void {
  liveReplies.value = new Map(liveReplies.value).set(id, reply);
}

export function removeLiveReply(id: string): void {
  const left = new Map(liveReplies.value);
  left.delete(id);
  liveReplies.value = left;
}
