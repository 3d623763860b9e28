// The server's settings as they stand on the screen, when they are not saved yet. They outlive the tab that shows them, so that a start
// of the server can save them first.
import type { ServerSettings } from "@ingle/protocol";
import { signal } from "@preact/signals";

import { client } from "../connection/connection.ts";
import { toFields, readSettings, type SettingsFields } from "./settings-form.ts";

/** `before`: the saved settings that were changed. When these change elsewhere, the page shows the new ones. */
const unsaved = signal<{ before: string; fields: SettingsFields } | null>(null);

const serializeFields = (fields: SettingsFields): string => JSON.stringify(fields);

/** What the form shows: the unsaved fields, or the saved ones. */
export function shownFields(settings: ServerSettings): SettingsFields {
  const saved = toFields(settings);
  return unsaved.value?.before === serializeFields(saved) ? unsaved.value.fields : saved;
}

export function changeFields(settings: ServerSettings, fields: SettingsFields): void {
  unsaved.value = { before: serializeFields(toFields(settings)), fields };
}

export function discardFields(): void {
  unsaved.value = null;
}

export function hasUnsaved(settings: ServerSettings): boolean {
  return serializeFields(shownFields(settings)) !== serializeFields(toFields(settings));
}

/** Whether all fields on the screen are valid. */
export function isSavable(settings: ServerSettings): boolean {
  return readSettings(shownFields(settings)).ok;
}

/** Saves what is on the screen. Rejects with the server's error; what is invalid has to be refused before. */
export async function saveFields(settings: ServerSettings): Promise<void> {
  const read = readSettings(shownFields(settings));
  if (!read.ok) return;
  await client.serverControl.change(read.change);
  discardFields();
}
