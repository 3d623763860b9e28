// The attachments of unsent messages, in the browser's IndexedDB, so that they survive a reload of their tab as the texts do.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

import type { Attachment } from "../conversations/conversation.ts";
import { newId } from "../conversations/chat-storage.ts";

export interface DraftFiles {
  attachments: readonly Attachment[];
  /** The bytes of its images, by attachment id. */
  images: ReadonlyMap<string, Blob>;
}

interface KeptDraft extends DraftFiles {
  /** The tab and the conversation. */
  key: [tab: string, conversation: string];
  keptAt: number;
}

interface DraftSchema extends DBSchema {
  drafts: { key: [string, string]; value: KeptDraft };
}

const tabKey = "ingle-tab";
/** A tab that was closed does not come back for its files. Browsers reopen tabs of the last days, with their sessionStorage. */
const keptMaxMs = 7 * 24 * 3_600_000;

/** Names this tab; a reload has the same name. */
function tabName(): string {
  const known = sessionStorage.getItem(tabKey) ?? newId();
  sessionStorage.setItem(tabKey, known);
  return known;
}

async function withDrafts<Result>(
  work: (database: IDBPDatabase<DraftSchema>) => Promise<Result>,
): Promise<Result> {
  const database = await openDB<DraftSchema>("ingle-drafts", 1, {
    upgrade: (created) => void created.createObjectStore("drafts", { keyPath: "key" }),
  });
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** Keeps the files of a draft; without any, forgets them. */
export function storeDraftFiles(conversationId: string, { attachments, images }: DraftFiles): Promise<void> {
  return withDrafts(async (database) => {
    const key: KeptDraft["key"] = [tabName(), conversationId];
    if (attachments.length === 0) await database.delete("drafts", key);
    else await database.put("drafts", { key, attachments, images, keptAt: Date.now() });
  });
}

/** The files of this tab's drafts by conversation. Forgets those of tabs that are gone for long. */
export function readDraftFiles(): Promise<Map<string, DraftFiles>> {
  return withDrafts(async (database) => {
    const found = new Map<string, DraftFiles>();
    for (const { key, keptAt, attachments, images } of await database.getAll("drafts")) {
      if (key[0] === tabName()) found.set(key[1], { attachments, images });
      else if (keptAt < Date.now() - keptMaxMs) await database.delete("drafts", key);
    }
    return found;
  });
}
