// A record store in memory: it ends with the server.
/** How much a store may hold. */
export interface StoreLimits {
  /** Maximum number of records. */
  readonly countMax: number;
  /** Maximum size of all texts together, in UTF-8. */
  readonly bytesMax: number;
  /** Maximum age since a record was written, in milliseconds. */
  readonly ageMaxMs: number;
}

export interface StoredRecord {
  readonly id: string;
  /** Who may read it. */
  readonly owner: string;
  readonly text: string;
}

export interface RecordStore extends Disposable {
  /** Undefined if there is no such record, or it is another owner's. */
  get: (id: string, owner: string) => string | undefined;
  /** Adds or replaces a record, which becomes the newest. False, with no change, if it is larger than the whole store may be. */
  put: (record: StoredRecord) => boolean;
  /** Returns whether this owner had such a record. */
  delete: (id: string, owner: string) => boolean;
  /** Removes expired records. */
  expire: () => void;
}

interface Kept extends StoredRecord {
  readonly bytes: number;
  readonly writtenAt: number;
}

export class MemoryStore implements RecordStore {
  readonly #limits: StoreLimits;
  readonly #now: () => number;
  /** By id, oldest first. */
  readonly #records = new Map<string, Kept>();
  #bytes = 0;

  /** `now` are milliseconds. */
  constructor(limits: StoreLimits, now: () => number = () => Date.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** How much it holds now. */
  get size(): { count: number; bytes: number } {
    return { count: this.#records.size, bytes: this.#bytes };
  }

  get(id: string, owner: string): string | undefined {
    this.expire();
    const record = this.#records.get(id);
    return record?.owner === owner ? record.text : undefined;
  }

  put(record: StoredRecord): boolean {
    const { countMax, bytesMax } = this.#limits;
    const bytes = Buffer.byteLength(record.text);
    if (bytes > bytesMax) return false;
    this.#remove(record.id);
    this.#records.set(record.id, { ...record, bytes, writtenAt: this.#now() });
    this.#bytes += bytes;
    this.expire();
    for (const id of this.#records.keys()) {
      if (this.#records.size <= countMax && this.#bytes <= bytesMax) break;
      this.#remove(id);
    }
    return true;
  }

  delete(id: string, owner: string): boolean {
    this.expire();
    return this.#records.get(id)?.owner === owner && this.#remove(id);
  }

  expire(): void {
    const oldest = this.#now() - this.#limits.ageMaxMs;
    for (const { id, writtenAt } of this.#records.values()) {
      if (writtenAt >= oldest) return;
      this.#remove(id);
    }
  }

  [Symbol.dispose](): void {
    this.#records.clear();
    this.#bytes = 0;
  }

  #remove(id: string): boolean {
    this.#bytes -= this.#records.get(id)?.bytes ?? 0;
    return this.#records.delete(id);
  }
}
