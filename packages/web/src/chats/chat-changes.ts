// What a person does with whole conversations and folders: begin, rename, move, delete and bring back.
import { computed, signal } from "@preact/signals";

import {
  chatStorage,
  conversations,
  folders,
  presets,
  replaceConversation,
  startChats,
} from "./chat-store.ts";
import { emptySettings, newId, type ChatSettings, type Conversation, type Folder } from "./conversation.ts";

/** What a conversation begins with that is not kept before its first message. */
export interface Draft {
  models: string[];
  answers: number;
  settings: ChatSettings;
  folderId: string | null;
}

/** The draft of the next new conversation; null begins with the default preset and the models used last. */
export const draft = signal<Draft | null>(null);

export const currentDraft = computed<Draft>(
  () =>
    draft.value ?? {
      models: conversations.value.find(({ models }) => models.length > 0)?.models.slice(0, 1) ?? [],
      answers: 1,
      settings: presets.value.find(({ isDefault }) => isDefault)?.settings ?? emptySettings,
      folderId: null,
    },
);

/** Makes a conversation of the draft. */
export async function beginConversation(title: string): Promise<Conversation> {
  const now = Date.now();
  const conversation: Conversation = {
    id: newId(),
    title,
    isNamed: false,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    chosen: {},
    ...currentDraft.value,
  };
  await (await chatStorage()).addConversation(conversation);
  draft.value = null;
  replaceConversation(conversation);
  return conversation;
}

/** Changes what is kept of a conversation, as it is at that moment. */
export async function changeConversation(
  id: string,
  change: (conversation: Conversation) => Conversation,
): Promise<void> {
  const changed = await (await chatStorage()).changeConversation(id, change);
  if (changed !== undefined) replaceConversation(changed);
}

/** A name that the person gives; the empty one leaves the naming to the first message. */
export async function renameConversation(id: string, title: string): Promise<void> {
  const name = title.trim();
  if (name !== "") await changeConversation(id, (before) => ({ ...before, title: name, isNamed: true }));
}

export async function moveConversation(id: string, folderId: string | null): Promise<void> {
  await changeConversation(id, (before) => ({ ...before, folderId }));
}

/** Takes a conversation out of the list; `restoreConversation` brings it back for some minutes. */
export async function deleteConversation(id: string): Promise<void> {
  const deletedAt = Date.now();
  await changeConversation(id, (before) => ({ ...before, deletedAt }));
}

export async function restoreConversation(id: string): Promise<void> {
  await changeConversation(id, (before) => ({ ...before, deletedAt: null }));
}

export async function addFolder(name: string): Promise<Folder> {
  const folder = { id: newId(), name: name.trim(), createdAt: Date.now() };
  await putFolder(folder);
  return folder;
}

export async function renameFolder(folder: Folder, name: string): Promise<void> {
  if (name.trim() !== "") await putFolder({ ...folder, name: name.trim() });
}

/** Removes a folder; its conversations stay, in none. */
export async function removeFolder(id: string): Promise<void> {
  await (await chatStorage()).removeFolder(id);
  folders.value = folders.value.filter((folder) => folder.id !== id);
  conversations.value = conversations.value.map((conversation) =>
    conversation.folderId === id ? { ...conversation, folderId: null } : conversation,
  );
}

async function putFolder(folder: Folder): Promise<void> {
  const { storage } = await startChats();
  await storage.putFolder(folder);
  const others = folders.value.filter(({ id }) => id !== folder.id);
  folders.value = [...others, folder].toSorted((a, b) => a.name.localeCompare(b.name));
}
