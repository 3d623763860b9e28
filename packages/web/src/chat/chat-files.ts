// Exports chats to files: all chats as JSON, one conversation as Markdown.
import { imageUrl } from "@ingle/client";

import { makeArchive } from "../conversations/chat-archive.ts";
import { messageAttachments, type ChatStorage } from "../conversations/chat-storage.ts";
import { chatStorage, conversations, folders, presets } from "../conversations/chat-store.ts";
import { chatMarkdown, toFileName } from "../conversations/conversation-text.ts";
import type { ArchivedChat, Conversation } from "../conversations/conversation.ts";
import { linearPath, makeTree } from "../conversations/message-tree.ts";
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
  const messages = await (await chatStorage()).readMessages(conversation.id);
  const path = linearPath(makeTree(messages, conversation.chosen));
  const title = conversation.title === "" ? chatText.untitled : conversation.title;
  const text = chatMarkdown(path, { title, you: chatText.you });
  download(toFileName(title, "md"), "text/markdown", text);
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
  const messages = await storage.readMessages(conversation.id);
  const shown = new Set(
    messages.flatMap(messageAttachments).flatMap(({ kind, id }) => (kind === "image" ? id : [])),
  );
  const images: Record<string, string> = {};
  for (const { id, data } of await storage.readFiles(conversation.id))
    if (shown.has(id)) images[id] = await imageUrl(data);
  return { conversation, messages, images };
}
