// Replies that could not be written into the database: because the page is being closed, which leaves no time for a transaction, or
// because the database refused. They are kept in the browser's localStorage, which is written at once, and brought into the database
// by the next start of the page, or by another tab as soon as it hears of them.
import type { ReplyMessage } from "./conversation.ts";

/** What this needs of localStorage. */
export type PlainStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const prefix = "ingle-unsaved-reply:";

/** Whether an entry of localStorage is one of these. */
export function isUnsavedReply(key: string | null): boolean {
  return key?.startsWith(prefix) ?? false;
}

/** Keeps replies as they are now. @throws DOMException when localStorage is full. */
export function keepUnsaved(storage: PlainStorage, replies: readonly ReplyMessage[]): void {
  for (const reply of replies) storage.setItem(prefix + reply.id, JSON.stringify(reply));
}

/**
 * Saves what is kept, and forgets it once it is saved. Resolves with the replies that were saved. What cannot be saved now stays
 * for the next time.
 */
export async function saveUnsaved(
  storage: PlainStorage,
  save: (replies: readonly ReplyMessage[]) => Promise<void>,
): Promise<ReplyMessage[]> {
  const kept = entriesOf(storage);
  const replies = kept.map(({ reply }) => reply);
  if (replies.length > 0) await save(replies);
  for (const { key, text } of kept) {
    // Another tab may have kept a newer state meanwhile.
    if (storage.getItem(key) === text) storage.removeItem(key);
  }
  return replies;
}

function entriesOf(storage: PlainStorage): { key: string; text: string; reply: ReplyMessage }[] {
  return Array.from({ length: storage.length }, (_nothing, at) => storage.key(at)).flatMap((key) => {
    const text = key === null || !isUnsavedReply(key) ? null : storage.getItem(key);
    if (key === null || text === null) return [];
    // Written by keepUnsaved alone: nobody else's page has this origin.
    const reply: ReplyMessage = JSON.parse(text);
    return [{ key, text, reply }];
  });
}
