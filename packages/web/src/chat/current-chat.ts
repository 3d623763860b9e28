// The chat that is shown: a conversation, or the draft of a new one. Its models and settings are read and changed here.
import { computed } from "@preact/signals";

import { route } from "../app/router.ts";
import { changeConversation, currentDraft, draft, type Draft } from "../chats/chat-changes.ts";
import { conversations } from "../chats/chat-store.ts";
import type { ChatSettings, Conversation } from "../chats/conversation.ts";
import { modelOf, models } from "../connection/connection.ts";

/** The conversation that the address names; undefined for a new one, and for one that is not there. */
export const currentConversation = computed<Conversation | undefined>(() => {
  const { page, parts } = route.value;
  return page === "chat" ? conversations.value.find(({ id }) => id === parts[0]) : undefined;
});

/** Models that answer: those that make vectors do not. */
export const chatModels = computed(() =>
  models.value.filter(({ capabilities }) => !capabilities.includes("embeddings")),
);

/** What the next message is asked with. */
export const currentChoice = computed<Draft>(() => {
  const conversation = currentConversation.value;
  const { models: wanted, ...rest } = conversation ?? currentDraft.value;
  // A new chat begins with the models of the last one, of which some may have been removed since.
  const chosen = conversation === undefined ? wanted.filter((id) => modelOf(id) !== undefined) : wanted;
  return { ...rest, models: chosen.length > 0 ? chosen : firstModel() };
});

/** Without a choice: a model that is in memory, or else the only one that there is. */
function firstModel(): string[] {
  const loaded = chatModels.value.find(({ status }) => status === "loaded" || status === "loading");
  const only = chatModels.value.length === 1 ? chatModels.value[0] : undefined;
  const first = loaded ?? only;
  return first === undefined ? [] : [first.id];
}

/** Whether all of them can see images. */
export const canSee = computed(() => {
  const chosen = currentChoice.value.models.map(modelOf);
  return chosen.length > 0 && chosen.every((model) => model?.capabilities.includes("vision") ?? false);
});

/** Whether one of them can think. */
export const canThink = computed(() =>
  currentChoice.value.models.some((id) => modelOf(id)?.capabilities.includes("thinking") ?? false),
);

/** Changes models, answers or settings of the conversation, or of the draft while there is none. */
export async function changeChoice(change: Partial<Draft>): Promise<void> {
  const conversation = currentConversation.value;
  if (conversation === undefined) draft.value = { ...currentChoice.value, ...change };
  else await changeConversation(conversation.id, (before) => ({ ...before, ...change }));
}

export async function changeSettings(change: Partial<ChatSettings>): Promise<void> {
  await changeChoice({ settings: { ...currentChoice.value.settings, ...change } });
}

/** Keeps the models that the next message would use, before it is sent: a conversation without any has picked none yet. */
export async function keepModels(): Promise<void> {
  const { models: chosen } = currentChoice.value;
  const kept = (currentConversation.value ?? currentDraft.value).models;
  const isKept = kept.length === chosen.length && kept.every((id, at) => id === chosen[at]);
  if (!isKept) await changeChoice({ models: chosen });
}
