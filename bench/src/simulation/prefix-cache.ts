// Which conversations a replica still has in its caches, and how many tokens of each: the least recently used goes first. A list
// with links, because a Map walks over what was deleted at its front again and again.

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

  /** Takes a conversation out, and returns its tokens; 0 for one that is not there. */
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

  /** Lets conversations go until the others have no more tokens than this. */
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
