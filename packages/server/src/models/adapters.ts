// Adapters and profiles of models, as requests and lists name them: `model:adapter`.
import type { GenerationRequest, Model } from "@ingle/engine";
import type { ModelEntry } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";

interface AdaptedModel {
  readonly id: string;
  readonly entry: ModelEntry;
  /** Names of its adapters. */
  readonly adapters: readonly string[];
  /** Names of its profiles. */
  readonly profiles: readonly string[];
}

/** The id of a model with one of its adapters or profiles. */
export function variantId(model: string, name: string): string {
  return `${model}:${name}`;
}

/** Names of adapters and profiles have no colon; ids of models may have. Undefined for an id that names none. */
export function splitVariantId(id: string): { model: string; name: string } | undefined {
  const at = id.lastIndexOf(":");
  return at < 1 ? undefined : { model: id.slice(0, at), name: id.slice(at + 1) };
}

/** A model's entry, and one for each of its profiles and adapters. */
export function listEntries({ id, entry, adapters, profiles }: AdaptedModel): ModelEntry[] {
  const names = new Set([...profiles, ...adapters]);
  return [entry, ...Array.from(names, (name) => ({ ...entry, id: variantId(id, name), parent: id }))];
}

/** The model is known, and its adapter is not. */
export function adapterNotFound(
  { id, adapters }: Pick<AdaptedModel, "id" | "adapters">,
  adapter: string,
): WireError {
  const message = `The model ${id} has no adapter ${JSON.stringify(adapter)}; it has ${adapters.join(", ")}.`;
  return new WireError("model_not_found", message, { param: "model" });
}

export type AdapterUses = NonNullable<GenerationRequest["adapters"]>;

/** The adapters of requests that choose none, as POST /lora-adapters sets them. They last until the model is unloaded. */
export class DefaultAdapters {
  readonly #uses = new WeakMap<Model, AdapterUses>();

  /** Empty unless they were set. */
  of(model: Model): AdapterUses {
    return this.#uses.get(model) ?? [];
  }

  set(model: Model, uses: AdapterUses): void {
    this.#uses.set(model, uses);
  }
}
