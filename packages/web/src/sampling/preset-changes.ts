// Presets: settings under a name. One of them may be what new chats begin with.
import { chatStorage, presets } from "../chats/chat-store.ts";
import { newId, type ChatSettings, type Preset } from "../chats/conversation.ts";

/** Saves settings under a name; a preset that has this name is changed. */
export async function savePreset(name: string, settings: ChatSettings): Promise<Preset> {
  const known = presets.value.find((preset) => preset.name === name);
  const preset: Preset = { id: known?.id ?? newId(), name, isDefault: known?.isDefault ?? false, settings };
  await put([preset]);
  return preset;
}

export async function removePreset(id: string): Promise<void> {
  await (await chatStorage()).removePreset(id);
  presets.value = presets.value.filter((preset) => preset.id !== id);
}

/** New chats begin with this one from now on, or with none. */
export async function makeDefault(id: string | null): Promise<void> {
  await put(presets.value.map((preset) => ({ ...preset, isDefault: preset.id === id })));
}

async function put(changed: readonly Preset[]): Promise<void> {
  await (await chatStorage()).putPresets(changed);
  const ids = new Set(changed.map(({ id }) => id));
  const all = [...presets.value.filter(({ id }) => !ids.has(id)), ...changed];
  presets.value = all.toSorted((a, b) => a.name.localeCompare(b.name));
}
