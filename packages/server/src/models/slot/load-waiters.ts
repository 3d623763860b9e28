// The requests that wait for a model to be loaded: each is granted the model, refused, or aborted.
import type { Model } from "@ingle/engine";

interface Waiter {
  grant(model: Model): void;
  refuse(error: unknown): void;
}

export class LoadWaiters {
  readonly #waiters = new Set<Waiter>();
  readonly #onEmpty: (reason: unknown) => void;

  /** @param onEmpty called when the last one was aborted, with its reason */
  constructor(onEmpty: (reason: unknown) => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits for grant(). Rejects with the error of refuse(), or the signal's reason. */
  async wait(signal: AbortSignal | undefined): Promise<Model> {
    return await new Promise<Model>((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        waiter.refuse(signal?.reason);
        if (this.size === 0) this.#onEmpty(signal?.reason);
      };
      const stay = (): void => signal?.removeEventListener("abort", leave);
      const waiter: Waiter = {
        grant: (model) => {
          stay();
          resolve(model);
        },
        refuse: (error) => {
          stay();
          // oxlint-disable-next-line prefer-promise-reject-errors -- it is what was thrown, or the signal's reason
          reject(error);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Resolves all of them with the model. Returns how many there were. */
  grant(model: Model): number {
    const waiters = this.#takeAll();
    for (const waiter of waiters) waiter.grant(model);
    return waiters.length;
  }

  refuse(error: unknown): void {
    for (const waiter of this.#takeAll()) waiter.refuse(error);
  }

  #takeAll(): Waiter[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }
}
