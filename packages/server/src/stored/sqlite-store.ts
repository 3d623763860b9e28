// A record store in an SQLite file: it outlives the server.
import type { RecordStore, StoredRecord, StoreLimits } from "./record-store.ts";
import { toNumbers, SqliteFile, type SqliteValue } from "./sqlite-file.ts";

const migrations: readonly string[] = [
  `CREATE TABLE records (
     place INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of writing
     id TEXT NOT NULL UNIQUE,
     owner TEXT NOT NULL,
     written_at INTEGER NOT NULL, -- Unix milliseconds
     bytes INTEGER NOT NULL,
     text TEXT NOT NULL
   ) STRICT;
   CREATE TABLE totals (count INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
   INSERT INTO totals VALUES (0, 0);
   CREATE TRIGGER added AFTER INSERT ON records
     BEGIN UPDATE totals SET count = count + 1, bytes = bytes + new.bytes; END;
   CREATE TRIGGER removed AFTER DELETE ON records
     BEGIN UPDATE totals SET count = count - 1, bytes = bytes - old.bytes; END;`,
];

/** All methods throw `disk_full` if the file's disk is full; the records are then as before. */
export class SqliteStore implements RecordStore {
  readonly #file: SqliteFile;
  readonly #limits: StoreLimits;
  readonly #now: () => number;

  private constructor(file: SqliteFile, limits: StoreLimits, now: () => number) {
    this.#file = file;
    this.#limits = limits;
    this.#now = now;
    file.together(() => this.#keepLimits());
  }

  /** Throws ConfigError for a file that cannot be used. */
  static async open(
    file: string,
    limits: StoreLimits,
    now: () => number = () => Date.now(),
  ): Promise<SqliteStore> {
    const opened = await SqliteFile.open(file, {
      setting: "--response-store",
      keeps: "responses",
      whenFull: "Free some space, or send store: false.",
      migrations,
    });
    return new SqliteStore(opened, limits, now);
  }

  get size(): { count: number; bytes: number } {
    const [totals] = this.#rows("SELECT count, bytes FROM totals");
    const [count = 0, bytes = 0] = toNumbers(totals);
    return { count, bytes };
  }

  get(id: string, owner: string): string | undefined {
    const [row] = this.#rows(
      "SELECT text FROM records WHERE id = ? AND owner = ? AND written_at >= ?",
      id,
      owner,
      this.#oldest,
    );
    return row === undefined ? undefined : String(row[0]);
  }

  put({ id, owner, text }: StoredRecord): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#limits.bytesMax) return false;
    this.#file.together(() => {
      this.#rows("DELETE FROM records WHERE id = ?", id);
      const values = [id, owner, this.#now(), bytes, text];
      this.#rows(
        "INSERT INTO records (id, owner, written_at, bytes, text) VALUES (?, ?, ?, ?, ?)",
        ...values,
      );
      this.#keepLimits();
    });
    return true;
  }

  delete(id: string, owner: string): boolean {
    const found = this.get(id, owner) !== undefined;
    if (found) this.#rows("DELETE FROM records WHERE id = ?", id);
    return found;
  }

  expire(): void {
    this.#rows("DELETE FROM records WHERE written_at < ?", this.#oldest);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /** Records written before this time have expired. */
  get #oldest(): number {
    return this.#now() - this.#limits.ageMaxMs;
  }

  #keepLimits(): void {
    this.expire();
    const { countMax, bytesMax } = this.#limits;
    for (let { count, bytes } = this.size; count > countMax || bytes > bytesMax; { count, bytes } = this.size)
      this.#rows("DELETE FROM records WHERE place = (SELECT min(place) FROM records)");
  }

  #rows(statement: string, ...values: SqliteValue[]): unknown[][] {
    return this.#file.rows(statement, ...values);
  }
}
