// The memory that a model takes: what was planned before it was loaded, and a context for embeddings that its engine may have
// created since. Both are freed with the model.
import { addMemory, sumBytes, type MemoryBytes, type Model } from "@ingle/engine";

export class SlotMemory {
  #planned: MemoryBytes = {};
  #model: Pick<Model, "embeddingMemory"> | undefined;
  /** For contexts for embeddings that are about to be created: only one at a time exists. */
  readonly #reserved = new Set<MemoryBytes>();

  /** The planned memory; empty if unknown. */
  get planned(): MemoryBytes {
    return this.#planned;
  }

  /** All of its memory; empty if the planned memory is unknown. */
  get byMemory(): MemoryBytes {
    const isKnown = Object.keys(this.#planned).length > 0;
    return isKnown ? addMemory(this.#planned, larger(this.#model?.embeddingMemory, this.reserved)) : {};
  }

  /** The memory that is reserved for a context for embeddings. */
  get reserved(): MemoryBytes {
    return [...this.#reserved].reduce(larger, {});
  }

  /** Counts memory for a context for embeddings as the model's until the result is disposed. */
  reserve(byMemory: MemoryBytes): Disposable {
    this.#reserved.add(byMemory);
    return { [Symbol.dispose]: () => this.#reserved.delete(byMemory) };
  }

  /** Called before the model is loaded. */
  plan(byMemory: MemoryBytes): void {
    this.#planned = byMemory;
  }

  loaded(model: Pick<Model, "embeddingMemory">): void {
    this.#model = model;
  }

  /** The model is about to be disposed and cannot be queried any more: until then, its memory stays the same. */
  leaving(): void {
    this.#planned = this.byMemory;
    this.#model = undefined;
  }

  freed(): void {
    this.#planned = {};
    this.#model = undefined;
  }
}

function larger(one: MemoryBytes = {}, other: MemoryBytes): MemoryBytes {
  return sumBytes(one) > sumBytes(other) ? one : other;
}
