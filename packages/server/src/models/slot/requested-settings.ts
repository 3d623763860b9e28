// The settings that management requests have chosen for a model, for its next load and later ones.
import type { LoadSettings } from "./load-settings.ts";

export class RequestedSettings {
  #current: LoadSettings | undefined;
  /** The settings of the last successful load. */
  #proven: LoadSettings | undefined;
  readonly #onDrop: () => void;

  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  /** Undefined: as usual. */
  get current(): LoadSettings | undefined {
    return this.#current;
  }

  /** Sets them for the next load. */
  request(settings: LoadSettings): void {
    this.#current = settings;
  }

  /** The load succeeded. */
  prove(): void {
    this.#proven = this.#current;
  }

  /** The load failed or was abandoned, or the model was freed: returns to the settings of the last successful load. */
  giveUp(): void {
    this.#current = this.#proven;
  }

  /** Returns to the usual settings. */
  drop(): void {
    if (this.#current === undefined) return;
    this.#current = undefined;
    this.#proven = undefined;
    this.#onDrop();
  }
}
