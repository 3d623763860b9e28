// Exports chats to files and imports them: all chats as JSON, one conversation as Markdown.
import { imageUrl } from "@ingle/client";

import { makeArchive, withNewIds } from "../chats/chat-archive.ts";
import { putFolder, putPresets } from "../chats/chat-changes.ts";
import type { ChatStorage } from "../chats/chat-storage.ts";
import { chatStorage, conversations, folders, presets, replaceConversation } from "../chats/chat-store.ts";
import { chatMarkdown, fileNameOf } from "../chats/conversation-text.ts";
import type { ArchivedChat, Conversation, StoredFile } from "../chats/conversation.ts";
import { blobOf } from "../chats/data-url.ts";
import { linearPath, makeTree } from "../chats/message-tree.ts";
import { showToast } from "../design/toast.tsx";
import { chatText } from "../strings/chat.ts";

/** The URL has to stay valid for a while: the browser reads it after the click. */
const downloadMs = 10_000;

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), downloadMs);
}

/** Saves the visible path of a conversation. */
export async function saveMarkdown(conversation: Conversation): Promise<void> {
  const messages = await (await chatStorage()).messagesOf(conversation.id);
  const path = linearPath(makeTree(messages, conversation.chosen));
  const title = conversation.title === "" ? chatText.untitled : conversation.title;
  const text = chatMarkdown(path, { title, you: chatText.you });
  download(fileNameOf(title, "md"), "text/markdown", text);
}

/** Saves all conversations with their branches and images, and all folders and presets. */
export async function saveAllChats(): Promise<void> {
  const storage = await chatStorage();
  const chats: ArchivedChat[] = [];
  for (const conversation of conversations.value) chats.push(await archived(conversation, storage));
  const archive = makeArchive(chats, folders.value, presets.value);
  const date = new Date().toISOString().slice(0, 10);
  download(`ingle-chats-${date}.json`, "application/json", JSON.stringify(archive));
}

async function archived(conversation: Conversation, storage: ChatStorage): Promise<ArchivedChat> {
  const images: Record<string, string> = {};
  for (const { id, data } of await storage.filesOf(conversation.id)) images[id] = await imageUrl(data);
  return { conversation, messages: await storage.messagesOf(conversation.id), images };
}

/** Adds the chats, folders and presets of an exported file. */
export async function importFile(file: File): Promise<void> {
  const { readArchive } = await import("../chats/conversation.ts");
  const archive = readArchive(await file.text());
  if (archive === undefined) {
    showToast({ text: chatText.importFailed, tone: "bad" });
    return;
  }
  const storage = await chatStorage();
  for (const folder of unknownOf(archive.folders, folders.value)) await putFolder(folder);
  // An imported preset does not become the default.
  const added = unknownOf(archive.presets, presets.value);
  await putPresets(added.map((preset) => ({ ...preset, isDefault: false })));
  for (const chat of archive.chats) await addChat(withNewIds(chat), storage);
  showToast({ text: chatText.imported(archive.chats.length), tone: "good" });
}

function unknownOf<Kept extends { id: string }>(read: readonly Kept[], known: readonly Kept[]): Kept[] {
  const ids = new Set(known.map(({ id }) => id));
  return read.filter(({ id }) => !ids.has(id));
}

async function addChat(
  { conversation, messages, images }: ArchivedChat,
  storage: ChatStorage,
): Promise<void> {
  const files = Object.entries(images).flatMap(([id, url]): StoredFile[] => {
    const data = blobOf(url);
    return data?.type.startsWith("image/") !== true ? [] : [{ id, conversationId: conversation.id, data }];
  });
  await storage.addConversation(conversation, messages, files);
  replaceConversation(conversation);
}
