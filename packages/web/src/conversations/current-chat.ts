// The visible chat, which is a conversation or the draft of a new one: its models, its settings, and what is open around it.
import { computed, effect, signal } from "@preact/signals";
import { route } from "../router.ts";
import { changeConversation, currentDraft, draft, type Draft } from "./chat-changes.ts";
import { conversations } from "./chat-store.ts";
import type { ChatSettings, Conversation } from "./conversation.ts";
import { findModel, models } from "../connection/connection.ts";
import type { ManagedModel } from "@ingle/protocol";

/** The conversation that the URL names; undefined for a new chat or an unknown id. */
export const currentConversation = computed<Conversation | undefined>(() => {
  const { page, parts } = route.value;
  return page === "chat" ? conversations.value.find(({ id }) => id === parts[0]) : undefined;
});

/** The installed models that can chat. */
export const chatModels = computed(() =>
  models.value.filter(({ capabilities }) => !capabilities.includes("embeddings")),
);

/** The models and settings for the next message. */
export const currentChoice = computed<Draft>(() => {
  const conversation = currentConversation.value;
  const { models: wanted, ...rest } = conversation ?? currentDraft.value;
  // A new chat starts with the models of the last one, some of which may have been removed since.
  const chosen = conversation === undefined ? wanted.filter((id) => findModel(id) !== undefined) : wanted;
  return { ...rest, models: chosen.length > 0 ? chosen : firstModel() };
});

/** Without a choice: a loaded model, or else the only one. */
function firstModel(): string[] {
  const loaded = chatModels.value.find(({ status }) => status === "loaded" || status === "loading");
  const only = chatModels.value.length === 1 ? chatModels.value[0] : undefined;
  const first = loaded ?? only;
  return first === undefined ? [] : [first.id];
}

/** The model for another try of a reply: its own one, or else the chosen one, such as for a reply that was imported. */
export function modelToRetry(model: string): string {
  return findModel(model) === undefined ? (currentChoice.value.models[0] ?? model) : model;
}

/** Whether all chosen models read images. */
export const readsImages = computed(() => {
  const chosen = currentChoice.value.models.map(findModel);
  return chosen.length > 0 && chosen.every((model) => model?.capabilities.includes("vision") ?? false);
});

/** Whether any chosen model can think. */
export const canThink = computed(() =>
  currentChoice.value.models.some((id) => findModel(id)?.capabilities.includes("thinking") ?? false),
);

/** Changes models, answers or settings of the conversation, or of the draft of a new one. */
export async function changeChoice(change: Partial<Draft>): Promise<void> {
  const conversation = currentConversation.value;
  if (conversation === undefined) draft.value = { ...currentChoice.value, ...change };
  else await changeConversation(conversation.id, (before) => ({ ...before, ...change }));
}

export async function changeSettings(change: Partial<ChatSettings>): Promise<void> {
  const conversation = currentConversation.value;
  if (conversation === undefined)
    await changeChoice({ settings: { ...currentChoice.value.settings, ...change } });
  else
    await changeConversation(conversation.id, (before) => ({
      ...before,
      settings: { ...before.settings, ...change },
    }));
}

/** Saves the models that the next message uses, where they were not chosen explicitly. */
export async function saveChosenModels(): Promise<void> {
  const { models: chosen } = currentChoice.value;
  const saved = (currentConversation.value ?? currentDraft.value).models;
  const isSaved = saved.length === chosen.length && saved.every((id, at) => id === chosen[at]);
  if (!isSaved) await changeChoice({ models: chosen });
}

const panelKey = "ingle-chat-panel";
const listKey = "ingle-chat-list";

/** On a narrow page, list and settings are drawers that cover the chat, so it starts with the chat alone. */
const isNarrow = matchMedia("(max-width: 64rem)");

/** The list of conversations: beside the chat, or as a drawer on a narrow page. */
export const listIsOpen = signal(false);

/** The settings: beside the chat, or as a drawer on a narrow page. */
export const panelIsOpen = signal(false);

export const treeIsOpen = signal(false);
export const shortcutsAreOpen = signal(false);

function openAsBefore(): void {
  listIsOpen.value = !isNarrow.matches && localStorage.getItem(listKey) !== "closed";
  panelIsOpen.value = !isNarrow.matches && localStorage.getItem(panelKey) === "open";
}

openAsBefore();
isNarrow.addEventListener("change", openAsBefore);

effect(() => {
  const [list, panel] = [listIsOpen.value, panelIsOpen.value];
  if (isNarrow.matches) return;
  localStorage.setItem(listKey, list ? "open" : "closed");
  localStorage.setItem(panelKey, panel ? "open" : "closed");
});

/** Closes what covers the chat on a narrow page. Returns whether anything did. */
export function closeDrawers(): boolean {
  if (!isNarrow.matches || (!listIsOpen.value && !panelIsOpen.value)) return false;
  listIsOpen.value = false;
  panelIsOpen.value = false;
  return true;
}

/** The installed models that compute embeddings, the smallest first. */
export function embedders(): ManagedModel[] {
  return models.value
    .filter(({ capabilities }) => capabilities.includes("embeddings"))
    .toSorted((a, b) => (a.size_bytes ?? 0) - (b.size_bytes ?? 0));
}

/** The chosen one, or else the smallest, which takes the least time and memory; null if there is none, or if none is wanted (""). */
export function chooseEmbedder(choice: string | null | undefined): string | null {
  if (choice === "") return null;
  const known = choice === undefined || choice === null ? undefined : findModel(choice);
  return (known ?? embedders()[0])?.id ?? null;
}

const storageKey = "ingle-figures";

export const showsFigures = signal(localStorage.getItem(storageKey) !== "hidden");

/** Changes it, and remembers it in this browser. */
export function showFigures(isShown: boolean): void {
  localStorage.setItem(storageKey, isShown ? "shown" : "hidden");
  showsFigures.value = isShown;
}
