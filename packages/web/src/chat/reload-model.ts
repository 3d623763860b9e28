// Loads a model again with other settings. Requests that use it are finished first; the server waits for them.
import type { LoadOrderOptions } from "@ingle/client";
import { signal } from "@preact/signals";

import { client } from "../connection/client.ts";
import { modelOf } from "../connection/connection.ts";
import { showError, showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";

/** The model that is loaded again now. */
export const reloadingModel = signal<string | null>(null);

/** Settings that are left out stay as the model has them now. */
export async function reloadModel(id: string, change: LoadOrderOptions): Promise<void> {
  const model = modelOf(id);
  reloadingModel.value = id;
  const kept: LoadOrderOptions = {
    context_length: model?.context_length ?? undefined,
    kv_bits_k: model?.kv_bits_k ?? undefined,
    kv_bits_v: model?.kv_bits_v ?? undefined,
  };
  const settings = change.kv_bits === undefined ? kept : { context_length: kept.context_length };
  try {
    await client.library.unload(id);
    await client.library.load(id, { ...settings, ...change });
    showToast({ text: strings.value.chat.reloaded(id), tone: "good" });
  } catch (error) {
    showError(error);
  } finally {
    reloadingModel.value = null;
  }
}
