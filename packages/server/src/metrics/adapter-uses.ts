// Which adapters requests wait for and run with, for gateways that send requests where their adapter is.

/** One generation's use of its adapters; disposing ends it. */
export interface AdapterUse extends Disposable {
  /** It has its first token. */
  run(): void;
}

export class AdapterUses {
  readonly #waiting = new Counts();
  readonly #running = new Counts();

  /** Ids of adapters that only waiting requests use. */
  get waiting(): string[] {
    return this.#waiting.names.filter((name) => !this.#running.names.includes(name));
  }

  get running(): string[] {
    return this.#running.names;
  }

  wait(adapters: readonly string[]): AdapterUse {
    let present: Counts | undefined;
    const move = (next: Counts | undefined): void => {
      present?.add(adapters, -1);
      present = next;
      present?.add(adapters, 1);
    };
    move(this.#waiting);
    return { run: () => move(this.#running), [Symbol.dispose]: () => move(undefined) };
  }
}

class Counts {
  readonly #counts = new Map<string, number>();

  get names(): string[] {
    return [...this.#counts.keys()];
  }

  add(names: readonly string[], change: number): void {
    for (const name of names) {
      const count = (this.#counts.get(name) ?? 0) + change;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }
}
