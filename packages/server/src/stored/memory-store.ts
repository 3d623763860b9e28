// A record store in memory: it ends with the server.
import type { RecordStore, StoredRecord, StoreLimits } from "./record-store.ts";

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
