// Chats in the browser's IndexedDB, for the page of a server that does not keep them. Each change is one transaction on the current
// state, so that two tabs can change the same conversation without losing either change.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

import {
  byAge,
  type ChatStorage,
  messageFileIds,
  type StoredChats,
  type WholeConversation,
} from "./chat-storage.ts";
import type { Conversation, Folder, Message, Preset, StoredFile } from "./conversation.ts";
import type { Change } from "./other-tabs.ts";

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

export class BrowserStorage implements ChatStorage {
  readonly #database: ChatDatabase;
  readonly #announce: (change: Change) => void;

  constructor(database: ChatDatabase, announce: (change: Change) => void) {
    this.#database = database;
    this.#announce = announce;
  }

  async all(): Promise<StoredChats> {
    const [conversations, folders, presets] = await Promise.all([
      this.#database.getAll("conversations"),
      this.#database.getAll("folders"),
      this.#database.getAll("presets"),
    ]);
    return { conversations, folders, presets };
  }

  conversation(id: string): Promise<Conversation | undefined> {
    return this.#database.get("conversations", id);
  }

  async readMessages(conversationId: string): Promise<Message[]> {
    const messages = await this.#database.getAllFromIndex("messages", "conversation", conversationId);
    return byAge(messages);
  }

  message(id: string): Promise<Message | undefined> {
    return this.#database.get("messages", id);
  }

  async file(id: string): Promise<Blob | undefined> {
    return (await this.#database.get("files", id))?.data;
  }

  readFiles(conversationId: string): Promise<StoredFile[]> {
    return this.#database.getAllFromIndex("files", "conversation", conversationId);
  }

  async addConversation(
    conversation: Conversation,
    messages: readonly Message[] = [],
    files: readonly StoredFile[] = [],
  ) {
    await this.addConversations([{ conversation, messages, files }]);
  }

  async addConversations(whole: readonly WholeConversation[]) {
    const transaction = this.#database.transaction(["conversations", "messages", "files"], "readwrite");
    await Promise.all([
      ...whole.map(({ conversation }) => transaction.objectStore("conversations").put(conversation)),
      ...whole.flatMap(({ messages }) =>
        messages.map((message) => transaction.objectStore("messages").put(message)),
      ),
      ...whole.flatMap(({ files }) => files.map((file) => transaction.objectStore("files").put(file))),
      transaction.done,
    ]);
    for (const { conversation } of whole) this.#announce({ kind: "conversation", id: conversation.id });
  }

  async changeConversation(
    id: string,
    change: (conversation: Conversation) => Conversation,
  ): Promise<Conversation | undefined> {
    const transaction = this.#database.transaction("conversations", "readwrite");
    const before = await transaction.store.get(id);
    const after = before === undefined ? undefined : change(before);
    if (after !== undefined) await transaction.store.put(after);
    await transaction.done;
    if (after !== undefined) this.#announce({ kind: "conversation", id });
    return after;
  }

  async addMessages(conversationId: string, messages: readonly Message[], files: readonly StoredFile[] = []) {
    const transaction = this.#database.transaction(["conversations", "messages", "files"], "readwrite");
    const isThere = (await transaction.objectStore("conversations").count(conversationId)) > 0;
    if (isThere) {
      await Promise.all([
        ...messages.map((message) => transaction.objectStore("messages").put(message)),
        ...files.map((file) => transaction.objectStore("files").put(file)),
      ]);
    }
    await transaction.done;
    if (isThere) this.#announceMessages(conversationId, messages);
  }

  async saveMessages(messages: readonly Message[]) {
    const transaction = this.#database.transaction("messages", "readwrite");
    const known = await Promise.all(messages.map(({ id }) => transaction.store.count(id)));
    const there = messages.filter((_message, at) => (known[at] ?? 0) > 0);
    await Promise.all([...there.map((message) => transaction.store.put(message)), transaction.done]);
    for (const message of there) this.#announceMessages(message.conversationId, [message]);
  }

  async removeMessages(conversationId: string, messages: readonly Message[]) {
    const transaction = this.#database.transaction(["messages", "files"], "readwrite");
    await Promise.all([
      ...messages.map(({ id }) => transaction.objectStore("messages").delete(id)),
      ...messages.flatMap(messageFileIds).map((id) => transaction.objectStore("files").delete(id)),
      transaction.done,
    ]);
    this.#announceMessages(conversationId, messages);
  }

  async purge(conversationId: string) {
    const transaction = this.#database.transaction(["conversations", "messages", "files"], "readwrite");
    await transaction.objectStore("conversations").delete(conversationId);
    for (const name of ["messages", "files"] as const) {
      const store = transaction.objectStore(name);
      const keys = await store.index("conversation").getAllKeys(conversationId);
      await Promise.all(keys.map((key) => store.delete(key)));
    }
    await transaction.done;
    this.#announce({ kind: "conversation", id: conversationId });
  }

  async putFolder(folder: Folder) {
    await this.#database.put("folders", folder);
    this.#announce({ kind: "folders" });
  }

  async removeFolder(id: string) {
    const transaction = this.#database.transaction(["folders", "conversations"], "readwrite");
    const conversations = transaction.objectStore("conversations");
    await transaction.objectStore("folders").delete(id);
    const inside = (await conversations.getAll()).filter(({ folderId }) => folderId === id);
    await Promise.all(inside.map((conversation) => conversations.put({ ...conversation, folderId: null })));
    await transaction.done;
    this.#announce({ kind: "folders" });
    for (const conversation of inside) this.#announce({ kind: "conversation", id: conversation.id });
  }

  async putPresets(presets: readonly Preset[]) {
    const transaction = this.#database.transaction("presets", "readwrite");
    await Promise.all([...presets.map((preset) => transaction.store.put(preset)), transaction.done]);
    this.#announce({ kind: "presets" });
  }

  async removePreset(id: string) {
    await this.#database.delete("presets", id);
    this.#announce({ kind: "presets" });
  }

  #announceMessages(conversationId: string, messages: readonly Message[]) {
    this.#announce({ kind: "messages", conversationId, ids: messages.map(({ id }) => id) });
  }
}
