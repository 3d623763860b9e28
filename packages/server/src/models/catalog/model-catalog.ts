// Every model that is known, loaded or not: those that were added one by one, and those that a source gives. Held by
// registry.ts.
import type { KnownModel, ModelSource } from "./known-model.ts";
import type { ModelSlot } from "../slot/model-slot.ts";

/** The source is not asked more often: it may look through folders of thousands of files. */
export const refreshMinMs = 2_000;

export interface CatalogOptions {
  source: ModelSource | undefined;
  /** The source could not be asked; what it has said before holds. */
  onSourceFailure: ((error: unknown) => void) | undefined;
  now: () => Date;
  makeSlot: (known: KnownModel) => ModelSlot;
}

export class ModelCatalog {
  readonly #options: CatalogOptions;
  /** By id, those that were added first. */
  readonly #slots = new Map<string, ModelSlot>();
  /** Ids that the source has given; the others stay whatever it says. */
  readonly #sourced = new Set<string>();
  #refreshing: Promise<void> | undefined;
  #refreshedAt = -Infinity;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get slots(): readonly ModelSlot[] {
    return [...this.#slots.values()];
  }

  /** Adds a model. One of the same id stays. */
  add(known: KnownModel): ModelSlot {
    const slot = this.#slots.get(known.id) ?? this.#options.makeSlot(known);
    this.#slots.set(known.id, slot);
    return slot;
  }

  /** The model of this id, else of this name in the library, else the one that was added by it; after a look at the source where there is none. */
  async find(name: string): Promise<ModelSlot | undefined> {
    const present = this.named(name);
    if (present !== undefined || this.#options.source === undefined) return present;
    await this.refresh();
    return this.named(name);
  }

  /** Asks the source what there is now, unless it was asked a moment ago. `isNeeded`: even then. */
  async refresh({ isNeeded = false }: { isNeeded?: boolean } = {}): Promise<void> {
    const { source, now } = this.#options;
    if (source === undefined) return;
    if (this.#refreshing === undefined || isNeeded) {
      if (!isNeeded && now().getTime() - this.#refreshedAt < refreshMinMs) return;
      this.#refreshedAt = now().getTime();
      this.#refreshing = this.#refresh(source);
    }
    await this.#refreshing;
  }

  /** Without a look at the source. */
  named(name: string): ModelSlot | undefined {
    return (
      this.#slots.get(name) ??
      this.slots.find(({ profile }) => profile.aliases.includes(name)) ??
      this.slots.find(({ known }) => known.aliases?.includes(name) === true)
    );
  }

  async #refresh(source: ModelSource): Promise<void> {
    try {
      const known = await source.known();
      const listed = new Map(known.map((model) => [model.id, model]));
      for (const id of this.#sourced) if (!listed.has(id)) this.#forget(id);
      for (const model of known) {
        if (!this.#slots.has(model.id)) this.#sourced.add(model.id);
        const slot = this.add(model);
        if (this.#sourced.has(model.id)) slot.know(model);
      }
      for (const slot of this.slots) slot.profile.note(listed.get(slot.id));
    } catch (error) {
      this.#options.onSourceFailure?.(error);
    } finally {
      this.#refreshing = undefined;
    }
  }

  /** A model that the source has no more. One that is in memory stays until it is freed. */
  #forget(id: string): void {
    const kind = this.#slots.get(id)?.state.kind;
    if (kind !== "available" && kind !== "failed") return;
    this.#slots.delete(id);
    this.#sourced.delete(id);
  }
}
