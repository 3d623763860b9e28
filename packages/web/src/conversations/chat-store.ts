// The chats as signals: conversations, folders, presets, and the open conversation. Follows changes of other pages.
import { computed, signal, untracked } from "@preact/signals";

import { client, grantedSession, onStreamOpen, onChatEvent } from "../connection/connection.ts";
import { pause } from "../connection/reconnect.ts";
import { liveReplies } from "./live-replies.ts";
import { showError, showToast } from "../design/toast.tsx";
import { chatText } from "../strings/chat.ts";
import { errorText } from "../strings/error-message.ts";
import { appChannel } from "./app-pages.ts";
import { AppStorage } from "./app-storage.ts";
import { BrowserStorage, openDatabase } from "./browser-storage.ts";
import { type ChatStorage, newId, type StoredChats } from "./chat-storage.ts";
import type { Conversation, Folder, Message, Preset } from "./conversation.ts";
import { toStoredChoices, linearPath, makeTree, type MessageTree } from "./message-tree.ts";
import { hasChats, moveChats } from "./move-chats.ts";
import { joinTabs, tabChannel, type Change, type Tabs } from "./other-tabs.ts";
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

/** Who keeps the chats; null until the server has said so. */
export const chatsKeptBy = signal<"app" | "browser" | null>(null);

/** `outdated`: another tab has a newer version of the page, so this one has to be reloaded. */
export const storageState = signal<"opening" | "ready" | "outdated" | { failed: string }>("opening");

/** The open conversation; null while there is none, and while it is read. */
export const openChat = signal<OpenChat | null>(null);

/** The visible messages, the first one first. */
export const openPath = computed<readonly Message[]>(() =>
  openChat.value === null ? [] : linearPath(openChat.value.tree),
);

/** Ids of replies in the open conversation that another tab is writing. */
export const writtenInOtherTab = signal<ReadonlySet<string>>(new Set());

/** How often a writing tab is asked whether it still writes, and how long a busy tab may take to answer. */
const pollMs = 2_000;
const busyTabMs = 3_000;

interface Store {
  storage: ChatStorage;
  tabs: Tabs;
}

let store: Promise<Store> | undefined;

/** Opens the storage and fills the signals. Later calls return the same promise. */
export function startChats(): Promise<Store> {
  store ??= open();
  return store;
}

/** The storage. After a change, update the signals with `replaceConversation` or `showTree`. */
export async function chatStorage(): Promise<ChatStorage> {
  return (await startChats()).storage;
}

async function open(): Promise<Store> {
  try {
    const { keeps_chats: isApp } = await grantedSession();
    chatsKeptBy.value = isApp ? "app" : "browser";
    const opened = isApp ? openInApp() : await openInBrowser();
    await readAll(opened.storage);
    const old = isApp ? await oldChats() : undefined;
    // A reply may belong to a chat that is still to be moved.
    if (old === undefined) await recoverUnsaved(opened.storage);
    addEventListener("storage", ({ key, newValue }) => {
      if (newValue !== null && isUnsavedReply(key)) void recoverUnsaved(opened.storage);
    });
    storageState.value = "ready";
    if (old !== undefined && opened.storage instanceof AppStorage) void moveOld(old, opened.storage);
    return opened;
  } catch (error) {
    storageState.value = { failed: errorText(error) };
    throw error;
  }
}

const isWriting = (id: string) => liveReplies.value.has(id);
const onChange = (change: Change) => void follow(change);

function openDatabaseHere() {
  return openDatabase(storeName, () => {
    if (chatsKeptBy.value === "browser") storageState.value = "outdated";
  });
}

async function openInBrowser(): Promise<Store> {
  const database = await openDatabaseHere();
  const tabs = joinTabs({ channel: tabChannel(storeName), isWriting, onChange });
  return { storage: new BrowserStorage(database, (change) => tabs.announce(change)), tabs };
}

function openInApp(): Store {
  const page = newId();
  const { chats } = client;
  const onMissed = () => void refresh().catch(showError);
  const channel = appChannel({ chats, page, events: onChatEvent, onMissed });
  const opened = { storage: new AppStorage(chats, page), tabs: joinTabs({ channel, isWriting, onChange }) };
  onStreamOpen(() => untracked(onMissed));
  return opened;
}

/** The chats that this browser still has from a time when it kept them; undefined if there are none. */
async function oldChats(): Promise<BrowserStorage | undefined> {
  const storage = new BrowserStorage(await openDatabaseHere(), () => {});
  return (await hasChats(storage)) ? storage : undefined;
}

async function moveOld(from: BrowserStorage, to: AppStorage): Promise<void> {
  try {
    const count = await moveChats({ from, to, onMoved: replaceConversation });
    await readAll(to);
    await recoverUnsaved(to);
    if (count > 0) showToast({ text: chatText.chatsMoved(count), tone: "good" });
  } catch (error) {
    // What was not moved stays in the browser until the next start.
    showError(error);
  }
}

/** Reads everything again after changes of other pages were missed. */
async function refresh(): Promise<void> {
  const { storage, tabs } = await startChats();
  await recoverUnsaved(storage);
  await readAll(storage);
  const chat = openChat.value;
  if (chat === null) return;
  const messages = await storage.readMessages(chat.id);
  const there = new Set(messages.map(({ id }) => id));
  const shown = openChat.value?.id === chat.id ? [...openChat.value.tree.nodes.keys()] : [];
  // A reply that this page is writing is newer here.
  const fresh = messages.filter(({ id }) => !liveReplies.value.has(id));
  showMessages(
    chat.id,
    fresh,
    shown.filter((id) => !there.has(id) && !liveReplies.value.has(id) && chat.tree.nodes.has(id)),
  );
  for (const message of fresh) void watchWriting(message, { storage, tabs });
}

async function readAll(storage: ChatStorage): Promise<void> {
  const stored = await readStored(storage);
  const now = Date.now();
  const isExpired = ({ deletedAt }: Conversation) => deletedAt !== null && deletedAt < now - restorableMs;
  conversations.value = sorted(stored.conversations.filter(({ deletedAt }) => deletedAt === null));
  folders.value = byName(stored.folders);
  presets.value = byName(stored.presets);
  for (const { id } of stored.conversations.filter(isExpired)) await storage.purge(id);
}

/** Reads once more if something has changed meanwhile, which the answer may not have. */
async function readStored(storage: ChatStorage): Promise<StoredChats> {
  for (;;) {
    const shown = [conversations.value, folders.value, presets.value];
    const stored = await storage.all();
    const isCurrent = [conversations.value, folders.value, presets.value].every(
      (list, at) => list === shown[at],
    );
    if (isCurrent) return stored;
  }
}

/** Opens a conversation. One that does not exist opens empty. */
export async function openConversation(id: string): Promise<void> {
  if (openChat.value?.id === id) return;
  openChat.value = null;
  wanted = id;
  const { storage, tabs } = await startChats();
  const [messages, conversation] = await Promise.all([storage.readMessages(id), storage.conversation(id)]);
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
    const replies = await saveUnsaved(localStorage, (each) => storage.saveMessages(each));
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
  if (!isUnfinished(message) || liveReplies.value.has(id) || watched.has(id)) return;
  watched.add(id);
  let isElsewhere = await tabs.isWrittenElsewhere(id);
  if (isElsewhere) setElsewhere(id, true);
  while (isElsewhere && openChat.value?.id === conversationId && isUnfinished(await storage.message(id))) {
    await pause(pollMs);
    isElsewhere = await tabs.isWrittenElsewhere(id, busyTabMs);
  }
  watched.delete(id);
  setElsewhere(id, false);
  const now = await storage.message(id);
  const isOver = !isElsewhere && !liveReplies.value.has(id);
  if (!isOver || now?.role !== "assistant" || now.reply.status !== "writing") return;
  const interrupted: Message = { ...now, reply: { ...now.reply, status: "interrupted" } };
  await storage.saveMessages([interrupted]);
  showMessages(conversationId, [interrupted]);
}

function isUnfinished(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.reply.status === "writing";
}

function setElsewhere(id: string, isElsewhere: boolean): void {
  const ids = new Set(writtenInOtherTab.value);
  if (isElsewhere) ids.add(id);
  else ids.delete(id);
  writtenInOtherTab.value = ids;
}

/** Adds new conversations to the list. */
export function addToList(added: readonly Conversation[]): void {
  conversations.value = sorted([...conversations.value, ...added]);
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
    return makeTree([...nodes.values()], toStoredChoices(tree));
  });
}

/** Applies a change of another page. */
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
