// The settings that management requests give a model, for its next load and later ones.
import type { LoadSettings } from "./load-settings.ts";

export class RequestedSettings {
  #current: LoadSettings | undefined;
  /** Those of the last load that succeeded. */
  #proven: LoadSettings | undefined;
  readonly #onDrop: () => void;

  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  /** Undefined: as usual. */
  get current(): LoadSettings | undefined {
    return this.#current;
  }

  /** For the next load. */
  request(settings: LoadSettings): void {
    this.#current = settings;
  }

  /** The load succeeded. */
  prove(): void {
    this.#proven = this.#current;
  }

  /** The load failed or was given up, or the model was freed: back to those of the last load that succeeded. */
  giveUp(): void {
    this.#current = this.#proven;
  }

  /** Back to the usual ones. */
  drop(): void {
    if (this.#current === undefined) return;
    this.#current = undefined;
    this.#proven = undefined;
    this.#onDrop();
  }
}
