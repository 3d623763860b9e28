// The model catalog: every model that the server knows, loaded or not, by id and alias. Some are added one by one, the
// others come from a source, such as the library.
import type { KnownModel, ModelSource } from "./known-model.ts";
import type { ModelSlot } from "../slot/model-slot.ts";

/** Minimum time between two refreshes: a source may scan folders of thousands of files. */
export const refreshMinMs = 2_000;

interface CatalogOptions {
  source: ModelSource | undefined;
  /** Called when the source fails; its models of the last refresh stay. */
  onSourceFailure: ((error: unknown) => void) | undefined;
  now: () => Date;
  /** Adds the settings that stay with a model. Default: none. */
  settle?: ((known: KnownModel) => KnownModel) | undefined;
  makeSlot: (known: KnownModel) => ModelSlot;
}

export class ModelCatalog {
  readonly #options: CatalogOptions;
  /** By id, in the order in which they were added. */
  readonly #slots = new Map<string, ModelSlot>();
  /** Ids that came from the source. The others are never removed. */
  readonly #sourced = new Set<string>();
  #refreshing: Promise<void> | undefined;
  #refreshedAt = -Infinity;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get slots(): readonly ModelSlot[] {
    return [...this.#slots.values()];
  }

  /** Adds a model, unless there is one with the same id. */
  add(known: KnownModel): ModelSlot {
    const slot = this.#slots.get(known.id) ?? this.#options.makeSlot(this.#settled(known));
    this.#slots.set(known.id, slot);
    return slot;
  }

  #settled(known: KnownModel): KnownModel {
    return this.#options.settle?.(known) ?? known;
  }

  /** Finds a model like named(), after a refresh if there is none. */
  async find(name: string): Promise<ModelSlot | undefined> {
    const present = this.named(name);
    if (present !== undefined || this.#options.source === undefined) return present;
    await this.refresh();
    return this.named(name);
  }

  /** Reads the source again, unless that was just done. `isNeeded` forces it. */
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

  /** Finds a model by its id, else by its alias in the library, else by an alias it was added with. */
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
        if (this.#sourced.has(model.id)) slot.update(this.#settled(model));
      }
      for (const slot of this.slots) slot.profile.setListed(listed.get(slot.id));
    } catch (error) {
      this.#options.onSourceFailure?.(error);
    } finally {
      this.#refreshing = undefined;
    }
  }

  /** Removes a model that the source no longer has, unless it is in memory. */
  #forget(id: string): void {
    const kind = this.#slots.get(id)?.state.kind;
    if (kind !== "available" && kind !== "failed") return;
    this.#slots.delete(id);
    this.#sourced.delete(id);
  }
}
