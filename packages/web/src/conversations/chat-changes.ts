// Changes to conversations, their messages, folders and presets.
import { computed, signal } from "@preact/signals";

import { emptySettings } from "./settings-fields.ts";
import { messageFileIds, newId } from "./chat-storage.ts";
import {
  byName,
  chatStorage,
  conversations,
  folders,
  openChat,
  presets,
  replaceConversation,
  showTree,
} from "./chat-store.ts";
import type { ChatSettings, Conversation, Folder, Message, Preset, StoredFile } from "./conversation.ts";
import { toStoredChoices, withChosen, withNode, withoutBranch } from "./message-tree.ts";

/** What a new conversation starts with; not stored before its first message. */
export interface Draft {
  models: string[];
  answers: number;
  settings: ChatSettings;
  folderId: string | null;
  toolServers?: string[] | undefined;
}

/** The draft of the next new conversation; null means the default preset and the models used last. */
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

/** Stores a new conversation with the draft's models and settings. */
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

/** The last change of each conversation that is being stored. */
const changing = new Map<string, Promise<Conversation | undefined>>();

/**
 * Changes the state of a conversation: shown at once, so that typed text never waits for the disk, and stored after all earlier changes.
 * `change` has no effects, since it is called for both.
 */
export async function changeConversation(
  id: string,
  change: (conversation: Conversation) => Conversation,
): Promise<void> {
  const shown = conversations.value.find((conversation) => conversation.id === id);
  if (shown !== undefined) replaceConversation(change(shown));
  const stored = storeAfter(changing.get(id), id, change);
  changing.set(id, stored);
  const isLast = () => changing.get(id) === stored;
  try {
    const changed = await stored;
    if (isLast() && changed !== undefined) replaceConversation(changed);
  } catch (error) {
    const kept = isLast() ? await (await chatStorage()).conversation(id) : undefined;
    if (isLast() && kept !== undefined) replaceConversation(kept);
    throw error;
  } finally {
    if (isLast()) changing.delete(id);
  }
}

async function storeAfter(
  before: Promise<unknown> | undefined,
  id: string,
  change: (conversation: Conversation) => Conversation,
): Promise<Conversation | undefined> {
  try {
    await before;
  } catch {
    // Whoever made that change hears of it.
  }
  return (await chatStorage()).changeConversation(id, change);
}

/** Renames a conversation; an empty name changes nothing. */
export async function renameConversation(id: string, title: string): Promise<void> {
  const name = title.trim();
  if (name !== "") await changeConversation(id, (before) => ({ ...before, title: name, isNamed: true }));
}

export async function moveConversation(id: string, folderId: string | null): Promise<void> {
  await changeConversation(id, (before) => ({ ...before, folderId }));
}

/** Marks a conversation as deleted; `restoreConversation` can bring it back for ten minutes. */
export async function deleteConversation(id: string): Promise<void> {
  const deletedAt = Date.now();
  await changeConversation(id, (before) => ({ ...before, deletedAt }));
}

export async function restoreConversation(id: string): Promise<void> {
  await changeConversation(id, (before) => ({ ...before, deletedAt: null }));
}

export async function addFolder(name: string): Promise<void> {
  await putFolder({ id: newId(), name: name.trim(), createdAt: Date.now() });
}

export async function renameFolder(folder: Folder, name: string): Promise<void> {
  if (name.trim() !== "") await putFolder({ ...folder, name: name.trim() });
}

/** Removes a folder and keeps its conversations. */
export async function removeFolder(id: string): Promise<void> {
  await (await chatStorage()).removeFolder(id);
  folders.value = folders.value.filter((folder) => folder.id !== id);
  conversations.value = conversations.value.map((conversation) =>
    conversation.folderId === id ? { ...conversation, folderId: null } : conversation,
  );
}

/** Adds a folder, or replaces the one with its id. */
export async function putFolder(folder: Folder): Promise<void> {
  await (await chatStorage()).putFolder(folder);
  folders.value = byName([...folders.value.filter(({ id }) => id !== folder.id), folder]);
}

/** Saves settings as a preset; replaces the settings of a preset with this name. */
export async function savePreset(name: string, settings: ChatSettings): Promise<Preset> {
  const known = presets.value.find((preset) => preset.name === name);
  const preset: Preset = { id: known?.id ?? newId(), name, isDefault: known?.isDefault ?? false, settings };
  await putPresets([preset]);
  return preset;
}

export async function removePreset(id: string): Promise<void> {
  await (await chatStorage()).removePreset(id);
  presets.value = presets.value.filter((preset) => preset.id !== id);
}

/** Makes a preset, or none, the default of new chats. */
export async function setDefaultPreset(id: string | null): Promise<void> {
  await putPresets(presets.value.map((preset) => ({ ...preset, isDefault: preset.id === id })));
}

/** Adds presets, or replaces those with their ids. */
export async function putPresets(changed: readonly Preset[]): Promise<void> {
  await (await chatStorage()).putPresets(changed);
  const ids = new Set(changed.map(({ id }) => id));
  presets.value = byName([...presets.value.filter(({ id }) => !ids.has(id)), ...changed]);
}

/** Adds messages below their parents and puts them on the path. Of several siblings, the first is chosen. */
export async function addMessages(
  conversationId: string,
  messages: readonly Message[],
  files: readonly StoredFile[] = [],
): Promise<void> {
  await (await chatStorage()).addMessages(conversationId, messages, files);
  showTree(conversationId, (tree) => messages.reduce(withNode, tree));
  const firsts = messages.filter(
    (message, at) => messages.findIndex(({ parentId }) => parentId === message.parentId) === at,
  );
  await chooseAll(
    conversationId,
    firsts.map(({ id }) => id),
  );
}

/** Puts a message on the path. */
export async function chooseMessage(conversationId: string, id: string): Promise<void> {
  await chooseAll(conversationId, [id]);
}

async function chooseAll(conversationId: string, ids: readonly string[]): Promise<void> {
  showTree(conversationId, (tree) => ids.reduce(withChosen, tree));
  await saveChoices(conversationId);
}

/** Removes a message and all below it. Resolves with a function that restores them. */
export async function pruneBranch(conversationId: string, id: string): Promise<() => Promise<void>> {
  const storage = await chatStorage();
  const chat = openChat.value;
  if (chat?.id !== conversationId) return async () => {};
  const { tree, removed } = withoutBranch(chat.tree, id);
  const ids = new Set(removed.flatMap(messageFileIds));
  const files =
    ids.size === 0 ? [] : (await storage.readFiles(conversationId)).filter((file) => ids.has(file.id));
  showTree(conversationId, () => tree);
  await storage.removeMessages(conversationId, removed);
  await saveChoices(conversationId);
  return () => addMessages(conversationId, removed, files);
}

async function saveChoices(conversationId: string): Promise<void> {
  const chat = openChat.value;
  if (chat?.id !== conversationId) return;
  const chosen = toStoredChoices(chat.tree);
  await changeConversation(conversationId, (before) => ({ ...before, chosen }));
}
