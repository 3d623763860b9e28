// The adapters of requests that choose none, as POST /lora-adapters sets them. They last until the model is unloaded.
import type { GenerationRequest, Model } from "@ingle/engine";

export type AdapterUses = NonNullable<GenerationRequest["adapters"]>;

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
