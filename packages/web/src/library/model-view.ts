// What a row of the installed models offers: which orders it takes in its state, and how large its quantizations become. Pure.
import type { Job, ManagedModel } from "@ingle/protocol";
import { isOpen } from "./job-view.ts";

export type ModelAction = "chat" | "load" | "unload" | "pin" | "unpin" | "quantize" | "remove";

/** The orders that this model takes now, in the order of their buttons. */
export function actionsOf(model: ManagedModel, jobs: readonly Job[]): ModelAction[] {
  const actions: ModelAction[] = [];
  // A chat loads its model with the first message; one that failed says so first.
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

/** It is on the disk and takes no memory. */
function isIdle({ status }: ManagedModel): boolean {
  return status === "available" || status === "failed";
}

/** Whether it is on its way into memory or out of it. */
export function isMoving({ status }: ManagedModel): boolean {
  return status === "preparing" || status === "loading" || status === "draining" || status === "unloading";
}

/** Only what has all its bits can be quantized without losing twice. */
const originals: ReadonlySet<string> = new Set(["F16", "BF16", "F32"]);

export function canQuantize({ quantization }: ManagedModel): boolean {
  return quantization !== null && originals.has(quantization.toUpperCase());
}

function isWorkedOn({ id }: ManagedModel, jobs: readonly Job[]): boolean {
  return jobs.some((job) => job.model === id && job.kind !== "pull" && isOpen(job));
}

/** Models as the page lists them: those in memory first, then by their last use, then by name. */
export function sortedModels(models: readonly ManagedModel[]): ManagedModel[] {
  const byUse = models
    .toSorted((a, b) => a.id.localeCompare(b.id, "en"))
    .toSorted((a, b) => (b.last_used_at ?? 0) - (a.last_used_at ?? 0));
  const isResting = (model: ManagedModel): boolean => isIdle(model) || model.status === "closed";
  return [...byUse.filter((model) => !isResting(model)), ...byUse.filter(isResting)];
}

/** Models whose id or aliases have the words, in any case. */
export function matchingModels(models: readonly ManagedModel[], words: string): ManagedModel[] {
  const wanted = words.trim().toLowerCase();
  return models.filter(({ id, aliases }) =>
    [id, ...aliases].some((name) => name.toLowerCase().includes(wanted)),
  );
}

export interface QuantizationChoice {
  level: "Q4_K_M" | "Q6_K" | "Q8_0";
  /** Of the file, about; null where the model's size is not known. */
  expectedBytes: number | null;
}

/** Bits that a level takes for each weight, about: docs/quantization.md has the table. */
const bitsPerWeight = { Q4_K_M: 4.8, Q6_K: 6.6, Q8_0: 8.5 } as const;

/** The levels that are offered, the usual one first, with the sizes that a model of many weights comes to. */
export function quantizationChoices({ quantization, size_bytes }: ManagedModel): QuantizationChoice[] {
  const originalBits = quantization?.toUpperCase() === "F32" ? 32 : 16;
  return (["Q4_K_M", "Q6_K", "Q8_0"] as const).map((level) => ({
    level,
    expectedBytes:
      size_bytes === null ? null : Math.round((size_bytes * bitsPerWeight[level]) / originalBits),
  }));
}

const aliasRule = /^[A-Za-z0-9._-]{1,100}$/;

/** Whether the server takes this as a name of the user's own. */
export function isAlias(text: string): boolean {
  return aliasRule.test(text);
}
