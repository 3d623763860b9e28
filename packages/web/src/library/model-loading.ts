// Loads models with chosen settings: the estimate before, and reloading. The server finishes the requests in flight first.
import type { LoadOptions } from "@ingle/client";
import type { MemoryEstimate } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { client, findModel } from "../connection/connection.ts";
import { showError, showToast } from "../design/toast.tsx";
import { errorMessage, type ErrorMessage } from "../strings/error-message.ts";
import { chatText } from "../strings/chat.ts";
import { toLoadOptions, type LoadFields } from "./load-form.ts";

/** Waits for a pause, since an estimate reads the model's file. */
const restMs = 200;

export interface Estimated {
  estimate: MemoryEstimate | null;
  error: ErrorMessage | null;
  isLoading: boolean;
}

/** The estimate for these fields. The previous one stays while the next is loading. */
export function useEstimate(model: string, fields: LoadFields): Estimated {
  const [state, setState] = useState<Estimated>({ estimate: null, error: null, isLoading: true });
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    const load = async () => {
      try {
        const options = { ...toLoadOptions(fields), signal: stop.signal };
        const estimate = await client.library.estimate(model, options);
        setState({ estimate, error: null, isLoading: false });
      } catch (error) {
        if (!stop.signal.aborted) setState({ estimate: null, error: errorMessage(error), isLoading: false });
      }
    };
    const timer = setTimeout(() => void load(), restMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [model, fields.contextLength, fields.kvBits]);
  return state;
}

/** The model that is being reloaded. */
export const reloadingModel = signal<string | null>(null);

/** Omitted settings keep their current values. */
export async function reloadModel(id: string, change: LoadOptions): Promise<void> {
  const model = findModel(id);
  reloadingModel.value = id;
  const kept: LoadOptions = {
    context_length: model?.context_length ?? undefined,
    kv_bits_k: model?.kv_bits_k ?? undefined,
    kv_bits_v: model?.kv_bits_v ?? undefined,
  };
  const settings = change.kv_bits === undefined ? kept : { context_length: kept.context_length };
  try {
    await client.library.unload(id);
    await client.library.load(id, { ...settings, ...change });
    showToast({ text: chatText.reloaded(id), tone: "good" });
  } catch (error) {
    showError(error);
  } finally {
    reloadingModel.value = null;
  }
}
