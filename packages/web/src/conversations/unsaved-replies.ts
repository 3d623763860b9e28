// Replies that could not be saved in the database, because the page is closing (no time for a transaction) or because the database
// failed. They are written to localStorage, which is synchronous, and moved into the database by another tab or the next start.
import type { ReplyMessage } from "./conversation.ts";

/** The part of localStorage that is used here. */
export type PlainStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const prefix = "ingle-unsaved-reply:";

/** Whether a key of localStorage holds an unsaved reply. */
export function isUnsavedReply(key: string | null): boolean {
  return key?.startsWith(prefix) ?? false;
}

/** Stores replies. @throws DOMException if localStorage is full. */
export function storeUnsaved(storage: PlainStorage, replies: readonly ReplyMessage[]): void {
  for (const reply of replies) storage.setItem(prefix + reply.id, JSON.stringify(reply));
}

/** Passes the stored replies to `save` and removes them afterwards; resolves with them. If `save` fails, they stay. */
export async function saveUnsaved(
  storage: PlainStorage,
  save: (replies: readonly ReplyMessage[]) => Promise<void>,
): Promise<ReplyMessage[]> {
  const entries = readEntries(storage);
  const replies = entries.map(({ reply }) => reply);
  if (replies.length > 0) await save(replies);
  for (const { key, text } of entries) {
    // Another tab may have stored a newer state meanwhile.
    if (storage.getItem(key) === text) storage.removeItem(key);
  }
  return replies;
}

function readEntries(storage: PlainStorage): { key: string; text: string; reply: ReplyMessage }[] {
  return Array.from({ length: storage.length }, (_nothing, at) => storage.key(at)).flatMap((key) => {
    const text = key === null || !isUnsavedReply(key) ? null : storage.getItem(key);
    if (key === null || text === null) return [];
    // Only storeUnsaved writes these keys.
    const reply: ReplyMessage = JSON.parse(text);
    return [{ key, text, reply }];
  });
}
