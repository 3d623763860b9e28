// Limits how long a loaded model stays in memory without a lease: the server's setting, or one that a request has chosen since it
// was loaded. The time runs while the model is loaded, has no lease and is not pinned.
interface IdleTimeOptions {
  /** The server's setting, in milliseconds. Undefined: forever. */
  usualMs: number | undefined;
  now: () => Date;
  /** Called at the end of the time. */
  onEnd: () => void;
}

export class IdleTime {
  readonly #options: IdleTimeOptions;
  /** A request's choice; null: forever. Undefined: the server's setting. */
  #chosenMs: number | null | undefined;
  #timer: NodeJS.Timeout | undefined;
  #endsAt: Date | undefined;

  constructor(options: IdleTimeOptions) {
    this.#options = options;
  }

  /** In milliseconds; null: forever. Applies from the next start until the model is freed. */
  choose(ms: number | null): void {
    this.#chosenMs = ms;
  }

  /** Starts again from now. */
  start(): void {
    this.stop();
    const ms = this.#ms;
    if (ms === null) return;
    this.#endsAt = this.#endFromNow(ms);
    this.#timer = setTimeout(() => this.#options.onEnd(), ms).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#endsAt = undefined;
  }

  /** Stops, and forgets a request's choice, because the model is freed. */
  reset(): void {
    this.stop();
    this.#chosenMs = undefined;
  }

  /** When the time ends or, while it is stopped, when it would end if it started now. Null: never. */
  get endsAt(): Date | null {
    const ms = this.#ms;
    return ms === null ? null : (this.#endsAt ?? this.#endFromNow(ms));
  }

  get #ms(): number | null {
    return this.#chosenMs === undefined ? (this.#options.usualMs ?? null) : this.#chosenMs;
  }

  #endFromNow(ms: number): Date {
    return new Date(this.#options.now().getTime() + ms);
  }
}
