// The IndexedDB database: conversations, messages, folders, presets and the bytes of images.
import { openDB, type DBSchema, type IDBPDatabase } from "idb";

import type { Conversation, Folder, Message, Preset, StoredFile } from "./conversation.ts";

interface ChatSchema extends DBSchema {
  conversations: { key: string; value: Conversation };
  messages: { key: string; value: Message; indexes: { conversation: string } };
  files: { key: string; value: StoredFile; indexes: { conversation: string } };
  folders: { key: string; value: Folder };
  presets: { key: string; value: Preset };
}

export type ChatDatabase = IDBPDatabase<ChatSchema>;

/** Increment with each change of the schema; `upgrade` then migrates older databases step by step. */
const version = 1;

/**
 * Opens the database. When another tab needs a newer version of it, the connection is closed and `onOutdated` is called.
 */
export function openDatabase(name: string, onOutdated: () => void): Promise<ChatDatabase> {
  return openDB<ChatSchema>(name, version, {
    upgrade(database, oldVersion) {
      if (oldVersion < 1) createStores(database);
    },
    blocking(_current, _blocked, event) {
      if (event.target instanceof IDBDatabase) event.target.close();
      onOutdated();
    },
  });
}

function createStores(database: ChatDatabase): void {
  database.createObjectStore("conversations", { keyPath: "id" });
  for (const name of ["messages", "files"] as const) {
    database.createObjectStore(name, { keyPath: "id" }).createIndex("conversation", "conversationId");
  }
  database.createObjectStore("folders", { keyPath: "id" });
  database.createObjectStore("presets", { keyPath: "id" });
}
