// Computes how an installed model is shown: its actions, its place in the list, and its quantization levels. Pure.
import type { Job, ManagedModel } from "@ingle/protocol";

import { isOpen } from "./job-view.ts";

export type ModelAction = "chat" | "load" | "unload" | "pin" | "unpin" | "quantize" | "remove";

/** The available actions, in the order of their buttons. */
export function modelActions(model: ManagedModel, jobs: readonly Job[]): ModelAction[] {
  const actions: ModelAction[] = [];
  // A chat loads its model with the first message; a model that failed to load is not offered.
  if (
    !model.capabilities.includes("embeddings") &&
    (model.status === "available" || model.status === "loaded")
  )
    actions.push("chat");
  if (isIdle(model)) actions.push("load");
  if (model.status === "loaded") actions.push("unload", model.pinned ? "unpin" : "pin");
  if (canQuantize(model) && !isWorkedOn(model, jobs)) actions.push("quantize");
  if (model.removable && isIdle(model) && !isWorkedOn(model, jobs)) actions.push("remove");
  return actions;
}

function isIdle({ status }: ManagedModel): boolean {
  return status === "available" || status === "failed";
}

/** Whether it is being loaded or unloaded. */
export function isLoadingOrUnloading({ status }: ManagedModel): boolean {
  return ["preparing", "loading", "restarting", "draining", "unloading"].includes(status);
}

/** Quantizing a quantized model would lose precision twice. */
const originals: ReadonlySet<string> = new Set(["F16", "BF16", "F32"]);

function canQuantize({ quantization }: ManagedModel): boolean {
  return quantization !== null && originals.has(quantization.toUpperCase());
}

function isWorkedOn({ id }: ManagedModel, jobs: readonly Job[]): boolean {
  return jobs.some((job) => job.model === id && job.kind !== "pull" && isOpen(job));
}

/** The models in the order of the list: those in memory first, then by last use, then by name. */
export function sortedModels(models: readonly ManagedModel[]): ManagedModel[] {
  const byUse = models
    .toSorted((a, b) => a.id.localeCompare(b.id, "en"))
    .toSorted((a, b) => (b.last_used_at ?? 0) - (a.last_used_at ?? 0));
  const isResting = (model: ManagedModel): boolean => isIdle(model) || model.status === "closed";
  return [...byUse.filter((model) => !isResting(model)), ...byUse.filter(isResting)];
}

/** The models whose id or an alias contains the words, in any case. */
export function matchingModels(models: readonly ManagedModel[], words: string): ManagedModel[] {
  const wanted = words.trim().toLowerCase();
  return models.filter(({ id, aliases }) =>
    [id, ...aliases].some((name) => name.toLowerCase().includes(wanted)),
  );
}

export interface QuantizationChoice {
  level: "Q4_K_M" | "Q6_K" | "Q8_0";
  /** Approximate file size; null if the model's size is unknown. */
  expectedBytes: number | null;
}

/** Approximate bits per weight; see docs/quantization.md. */
const bitsPerWeight = { Q4_K_M: 4.8, Q6_K: 6.6, Q8_0: 8.5 } as const;

/** The levels on offer, the usual one first, with the sizes that a large model would have. */
export function quantizationChoices({ quantization, size_bytes }: ManagedModel): QuantizationChoice[] {
  const originalBits = quantization?.toUpperCase() === "F32" ? 32 : 16;
  return (["Q4_K_M", "Q6_K", "Q8_0"] as const).map((level) => ({
    level,
    expectedBytes:
      size_bytes === null ? null : Math.round((size_bytes * bitsPerWeight[level]) / originalBits),
  }));
}

const aliasRule = /^[A-Za-z0-9._-]{1,100}$/;

/** Whether the server accepts this as an alias. */
export function isAlias(text: string): boolean {
  return aliasRule.test(text);
}
