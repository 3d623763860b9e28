// The chats of this browser as signals: the list, folders, presets, and the conversation that is open. Other tabs' changes
// come in by themselves.
import { computed, signal } from "@preact/signals";

import { liveReplies } from "../replies/live-replies.ts";
import { ChatStorage } from "./chat-storage.ts";
import type { Conversation, Folder, Message, Preset } from "./conversation.ts";
import { openDatabase } from "./database.ts";
import { choicesOf, linearPath, makeTree, type MessageTree } from "./message-tree.ts";
import { joinTabs, type Change, type Tabs } from "./tabs.ts";
import { isUnsavedReply, saveUnsaved } from "./unsaved-replies.ts";

const storeName = "ingle-chats";

/** Deleted conversations can be brought back for so long; the next start after it forgets them. */
const deletedMs = 10 * 60_000;

export interface OpenChat {
  readonly id: string;
  readonly tree: MessageTree<Message>;
}

/** All but deleted ones, the last used first. */
export const conversations = signal<readonly Conversation[]>([]);
export const folders = signal<readonly Folder[]>([]);
export const presets = signal<readonly Preset[]>([]);

/** `outdated`: another tab has a newer page, and this one has to be loaded again. */
export const storageState = signal<"opening" | "ready" | "outdated" | { failed: string }>("opening");

/** The conversation whose messages are here; null while none is open, or it is being read. */
export const openChat = signal<OpenChat | null>(null);

/** The messages that are shown, from the first on. */
export const openPath = computed<readonly Message[]>(() =>
  openChat.value === null ? [] : linearPath(openChat.value.tree),
);

/** Replies of the open conversation that another tab has said it writes. */
export const writtenElsewhere = signal<ReadonlySet<string>>(new Set());

/** How often a tab that writes is asked whether it still does, and how long it may take to answer then: it is busy. */
const askAgainMs = 2_000;
const patientMs = 3_000;

interface Store {
  storage: ChatStorage;
  tabs: Tabs;
}

let store: Promise<Store> | undefined;

/** Opens the database; what it holds is in the signals then. Further calls wait for the first. */
export function startChats(): Promise<Store> {
  store ??= open();
  return store;
}

/** What is kept, to be changed: the signals follow through `replaceConversation` and `showTree`. */
export async function chatStorage(): Promise<ChatStorage> {
  return (await startChats()).storage;
}

async function open(): Promise<Store> {
  try {
    const database = await openDatabase(storeName, () => {
      storageState.value = "outdated";
    });
    const isWritten = (id: string) => liveReplies.value.has(id);
    const tabs = joinTabs({
      name: storeName,
      isWriting: isWritten,
      onChange: (change) => void follow(change),
    });
    const storage = new ChatStorage(database, (change) => tabs.announce(change));
    await readAll(storage);
    await takeUnsaved(storage);
    addEventListener("storage", ({ key, newValue }) => {
      if (newValue !== null && isUnsavedReply(key)) void takeUnsaved(storage);
    });
    storageState.value = "ready";
    return { storage, tabs };
  } catch (error) {
    storageState.value = { failed: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

async function readAll(storage: ChatStorage): Promise<void> {
  const kept = await storage.all();
  const now = Date.now();
  const isForgotten = ({ deletedAt }: Conversation) => deletedAt !== null && deletedAt < now - deletedMs;
  conversations.value = sorted(kept.conversations.filter(({ deletedAt }) => deletedAt === null));
  folders.value = byName(kept.folders);
  presets.value = byName(kept.presets);
  for (const { id } of kept.conversations.filter(isForgotten)) await storage.purge(id);
}

/** Shows the messages of a conversation. One that is not there (any more) opens as an empty one. */
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

/** Shows none, such as for a conversation that begins. */
export function closeConversation(): void {
  wanted = undefined;
  openChat.value = null;
}

/** The conversation that was asked for last: another one's messages may arrive later. */
let wanted: string | undefined;

/** Brings replies into the database that another page could not save, such as one that was closed. */
async function takeUnsaved(storage: ChatStorage): Promise<void> {
  try {
    const replies = await saveUnsaved(localStorage, (each) => storage.saveReplies(each));
    for (const reply of replies) showMessages(reply.conversationId, [reply]);
  } catch {
    // The database refuses them still: they stay where they are, for the next start.
  }
}

/** The replies that `watchWriting` is at. */
const watched = new Set<string>();

/**
 * Finds out who writes a reply that is not whole: this page, another tab, or nobody any more, as its page has gone without being able
 * to say so. Ends once it is whole or another conversation is open.
 */
async function watchWriting(message: Message, { storage, tabs }: Store): Promise<void> {
  const { id, conversationId } = message;
  if (!isWriting(message) || liveReplies.value.has(id) || watched.has(id)) return;
  watched.add(id);
  let isElsewhere = await tabs.isWrittenElsewhere(id);
  if (isElsewhere) setElsewhere(id, true);
  while (isElsewhere && openChat.value?.id === conversationId && isWriting(await storage.message(id))) {
    await pause(askAgainMs);
    isElsewhere = await tabs.isWrittenElsewhere(id, patientMs);
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Puts a conversation into the list, in the place of its older state. */
export function replaceConversation(conversation: Conversation): void {
  const others = conversations.value.filter(({ id }) => id !== conversation.id);
  conversations.value = conversation.deletedAt === null ? sorted([...others, conversation]) : others;
}

/** Shows a new state of the open conversation's tree; does nothing when another one is open. */
export function showTree(id: string, change: (tree: MessageTree<Message>) => MessageTree<Message>): void {
  const chat = openChat.value;
  if (chat?.id === id) openChat.value = { id, tree: change(chat.tree) };
}

/** Shows messages that somebody else has changed or added: what this page has chosen stays chosen. */
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

/** What another tab has changed. */
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

function byName<Named extends { name: string }>(list: readonly Named[]): Named[] {
  return list.toSorted((a, b) => a.name.localeCompare(b.name));
}
