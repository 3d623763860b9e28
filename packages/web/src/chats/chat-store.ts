// The chats of this browser as signals: conversations, folders, presets, and the open conversation. Follows changes of other tabs.
import { computed, signal } from "@preact/signals";

import { pause } from "../connection/reconnect.ts";
import { liveReplies } from "../replies/reply-writer.ts";
import { reasonOf } from "../strings/error-message.ts";
import { ChatStorage, openDatabase } from "./chat-storage.ts";
import type { Conversation, Folder, Message, Preset } from "./conversation.ts";
import { choicesOf, linearPath, makeTree, type MessageTree } from "./message-tree.ts";
import { joinTabs, type Change, type Tabs } from "./other-tabs.ts";
import { isUnsavedReply, saveUnsaved } from "./unsaved-replies.ts";

const storeName = "ingle-chats";

/** How long a deleted conversation can be restored. The first start of the page after that purges it. */
const restorableMs = 10 * 60_000;

interface OpenChat {
  readonly id: string;
  readonly tree: MessageTree<Message>;
}

/** All except deleted ones, the last used first. */
export const conversations = signal<readonly Conversation[]>([]);
export const folders = signal<readonly Folder[]>([]);
export const presets = signal<readonly Preset[]>([]);

/** `outdated`: another tab has a newer version of the page, so this one has to be reloaded. */
export const storageState = signal<"opening" | "ready" | "outdated" | { failed: string }>("opening");

/** The open conversation; null while there is none, and while it is read. */
export const openChat = signal<OpenChat | null>(null);

/** The visible messages, the first one first. */
export const openPath = computed<readonly Message[]>(() =>
  openChat.value === null ? [] : linearPath(openChat.value.tree),
);

/** Ids of replies in the open conversation that another tab is writing. */
export const writtenElsewhere = signal<ReadonlySet<string>>(new Set());

/** How often a writing tab is asked whether it still writes, and how long a busy tab may take to answer. */
const pollMs = 2_000;
const busyTabMs = 3_000;

interface Store {
  storage: ChatStorage;
  tabs: Tabs;
}

let store: Promise<Store> | undefined;

/** Opens the database and fills the signals. Later calls return the same promise. */
export function startChats(): Promise<Store> {
  store ??= open();
  return store;
}

/** The database. After a change, update the signals with `replaceConversation` or `showTree`. */
export async function chatStorage(): Promise<ChatStorage> {
  return (await startChats()).storage;
}

async function open(): Promise<Store> {
  try {
    const database = await openDatabase(storeName, () => {
      storageState.value = "outdated";
    });
    const tabs = joinTabs({
      name: storeName,
      isWriting: (id) => liveReplies.value.has(id),
      onChange: (change) => void follow(change),
    });
    const storage = new ChatStorage(database, (change) => tabs.announce(change));
    await readAll(storage);
    await recoverUnsaved(storage);
    addEventListener("storage", ({ key, newValue }) => {
      if (newValue !== null && isUnsavedReply(key)) void recoverUnsaved(storage);
    });
    storageState.value = "ready";
    return { storage, tabs };
  } catch (error) {
    storageState.value = { failed: reasonOf(error) };
    throw error;
  }
}

async function readAll(storage: ChatStorage): Promise<void> {
  const stored = await storage.all();
  const now = Date.now();
  const isExpired = ({ deletedAt }: Conversation) => deletedAt !== null && deletedAt < now - restorableMs;
  conversations.value = sorted(stored.conversations.filter(({ deletedAt }) => deletedAt === null));
  folders.value = byName(stored.folders);
  presets.value = byName(stored.presets);
  for (const { id } of stored.conversations.filter(isExpired)) await storage.purge(id);
}

/** Opens a conversation. One that does not exist opens empty. */
export async function openConversation(id: string): Promise<void> {
  if (openChat.value?.id === id) return;
  openChat.value = null;
  wanted = id;
  const { storage, tabs } = await startChats();
  const [messages, conversation] = await Promise.all([storage.messagesOf(id), storage.conversation(id)]);
  if (wanted !== id) return;
  openChat.value = { id, tree: makeTree(messages, conversation?.chosen) };
  for (const message of messages) void watchWriting(message, { storage, tabs });
}

export function closeConversation(): void {
  wanted = undefined;
  openChat.value = null;
}

/** The last requested conversation: the messages of an earlier request may arrive later. */
let wanted: string | undefined;

/** Moves replies into the database that a page could not save, for example because it was closed. */
async function recoverUnsaved(storage: ChatStorage): Promise<void> {
  try {
    const replies = await saveUnsaved(localStorage, (each) => storage.saveReplies(each));
    for (const reply of replies) showMessages(reply.conversationId, [reply]);
  } catch {
    // The database still rejects them; they stay in localStorage until the next start.
  }
}

/** Ids of the replies that `watchWriting` is watching. */
const watched = new Set<string>();

/**
 * Finds out who is writing an unfinished reply: this page, another tab, or nobody, if its page is gone. Then the reply is marked as
 * interrupted. Returns when the reply is finished or another conversation is opened.
 */
async function watchWriting(message: Message, { storage, tabs }: Store): Promise<void> {
  const { id, conversationId } = message;
  if (!isWriting(message) || liveReplies.value.has(id) || watched.has(id)) return;
  watched.add(id);
  let isElsewhere = await tabs.isWrittenElsewhere(id);
  if (isElsewhere) setElsewhere(id, true);
  while (isElsewhere && openChat.value?.id === conversationId && isWriting(await storage.message(id))) {
    await pause(pollMs);
    isElsewhere = await tabs.isWrittenElsewhere(id, busyTabMs);
  }
  watched.delete(id);
  setElsewhere(id, false);
  const now = await storage.message(id);
  const isOver = !isElsewhere && !liveReplies.value.has(id);
  if (!isOver || now?.role !== "assistant" || now.reply.status !== "writing") return;
  const interrupted: Message = { ...now, reply: { ...now.reply, status: "interrupted" } };
  await storage.saveReplies([interrupted]);
  showMessages(conversationId, [interrupted]);
}

function isWriting(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.reply.status === "writing";
}

function setElsewhere(id: string, isElsewhere: boolean): void {
  const ids = new Set(writtenElsewhere.value);
  if (isElsewhere) ids.add(id);
  else ids.delete(id);
  writtenElsewhere.value = ids;
}

/** Adds or replaces a conversation in the list; removes a deleted one. */
export function replaceConversation(conversation: Conversation): void {
  const others = conversations.value.filter(({ id }) => id !== conversation.id);
  conversations.value = conversation.deletedAt === null ? sorted([...others, conversation]) : others;
}

/** Changes the visible tree of a conversation; does nothing if another one is open. */
export function showTree(id: string, change: (tree: MessageTree<Message>) => MessageTree<Message>): void {
  const chat = openChat.value;
  if (chat?.id === id) openChat.value = { id, tree: change(chat.tree) };
}

/** Adds or replaces visible messages and removes others, without changing which branch is shown. */
export function showMessages(
  id: string,
  messages: readonly Message[],
  removed: readonly string[] = [],
): void {
  showTree(id, (tree) => {
    const nodes = new Map(tree.nodes);
    for (const message of messages) nodes.set(message.id, message);
    for (const gone of removed) nodes.delete(gone);
    return makeTree([...nodes.values()], choicesOf(tree));
  });
}

/** Applies a change of another tab. */
async function follow(change: Change): Promise<void> {
  const { storage, tabs } = await startChats();
  if (change.kind === "folders") folders.value = byName((await storage.all()).folders);
  else if (change.kind === "presets") presets.value = byName((await storage.all()).presets);
  else if (change.kind === "conversation") await followConversation(change.id, storage);
  else if (openChat.value?.id === change.conversationId) {
    const found = await Promise.all(change.ids.map((id) => storage.message(id)));
    const there = found.filter((message) => message !== undefined);
    const known = new Set(there.map(({ id }) => id));
    showMessages(
      change.conversationId,
      there,
      change.ids.filter((id) => !known.has(id)),
    );
    for (const message of there) void watchWriting(message, { storage, tabs });
  }
}

async function followConversation(id: string, storage: ChatStorage): Promise<void> {
  const conversation = await storage.conversation(id);
  if (conversation !== undefined) replaceConversation(conversation);
  else conversations.value = conversations.value.filter((known) => known.id !== id);
}

function sorted(list: readonly Conversation[]): Conversation[] {
  return list.toSorted((a, b) => b.updatedAt - a.updatedAt);
}

export function byName<Named extends { name: string }>(list: readonly Named[]): Named[] {
  return list.toSorted((a, b) => a.name.localeCompare(b.name));
}
