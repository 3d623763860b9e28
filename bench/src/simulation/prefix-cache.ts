// The conversations in a replica's caches, with their tokens, least recently used evicted first. A linked list, because a Map
// would iterate over deleted entries at its front again and again.

interface Entry {
  readonly session: number;
  readonly tokens: number;
  older: Entry | undefined;
  newer: Entry | undefined;
}

export class PrefixCache {
  readonly #entries = new Map<number, Entry>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #tokens = 0;

  /** Removes a conversation and returns its tokens; 0 if it is not cached. */
  take(session: number): number {
    const entry = this.#entries.get(session);
    if (entry === undefined) return 0;
    this.#remove(entry);
    return entry.tokens;
  }

  /** Adds a conversation as the most recently used. */
  put(session: number, tokens: number): void {
    this.take(session);
    const entry: Entry = { session, tokens, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#entries.set(session, entry);
    this.#tokens += tokens;
  }

  /** Evicts conversations until the rest have at most this many tokens. */
  shrinkTo(tokensMax: number): void {
    while (this.#oldest !== undefined && this.#tokens > tokensMax) this.#remove(this.#oldest);
  }

  #remove({ session, tokens, older, newer }: Entry): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    this.#entries.delete(session);
    this.#tokens -= tokens;
  }
}
