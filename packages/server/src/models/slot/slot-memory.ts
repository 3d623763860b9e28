// What a model takes of each memory: what was planned before it was loaded, and a context for embeddings that its engine may have
// made since. Both are freed with the model.
import { addMemory, type MemoryBytes, type Model } from "@ingle/engine";

export class SlotMemory {
  #planned: MemoryBytes = {};
  #model: Pick<Model, "embeddingMemory"> | undefined;

  /** What was planned; empty if that is not known. */
  get planned(): MemoryBytes {
    return this.#planned;
  }

  /** All of it; empty if what was planned is not known. */
  get byMemory(): MemoryBytes {
    const isKnown = Object.keys(this.#planned).length > 0;
    return isKnown ? addMemory(this.#planned, this.#model?.embeddingMemory ?? {}) : this.#planned;
  }

  /** Before the model is loaded. */
  plan(byMemory: MemoryBytes): void {
    this.#planned = byMemory;
  }

  loaded(model: Pick<Model, "embeddingMemory">): void {
    this.#model = model;
  }

  /** The model is about to be disposed, and cannot be asked any more: until then, it takes what it takes now. */
  leaving(): void {
    this.#planned = this.byMemory;
    this.#model = undefined;
  }

  freed(): void {
    this.#planned = {};
    this.#model = undefined;
  }
}
