// A record store in an SQLite file: it outlives the server. libsql is SQLite with one small package for each platform; it is an
// optional dependency, because only servers with this setting need it.
import { chmodSync, closeSync, mkdirSync, openSync, statfsSync } from "node:fs";
import path from "node:path";
import type Database from "libsql";
import { ConfigError } from "../settings/resolve.ts";
import { WireError } from "../wire-error.ts";
import type { RecordStore, StoredRecord, StoreLimits } from "./record-store.ts";

/**
 * The migrations, each from one version of the file to the next, starting with an empty file. `user_version` is the number of
 * migrations that a file has had. Released migrations never change.
 */
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

/** Time to wait for another process that writes, in milliseconds. */
const lockWaitMs = 5_000;

/** All methods throw `disk_full` if the file's disk is full; the records are then as before. */
export class SqliteStore implements RecordStore {
  readonly #database: Database.Database;
  readonly #folder: string;
  readonly #limits: StoreLimits;
  readonly #now: () => number;

  private constructor(
    { database, folder }: { database: Database.Database; folder: string },
    limits: StoreLimits,
    now: () => number,
  ) {
    this.#database = database;
    this.#folder = folder;
    this.#limits = limits;
    this.#now = now;
    this.#together(() => this.#keepLimits());
  }

  /**
   * Opens or creates the file, which only this user may read. Throws ConfigError if libsql is missing, a newer version wrote
   * the file, or it is no database.
   */
  static async open(
    file: string,
    limits: StoreLimits,
    now: () => number = () => Date.now(),
  ): Promise<SqliteStore> {
    const { default: Libsql } = await import("libsql").catch((cause: unknown) => {
      const message = `${setting} ${file} needs the package libsql, which cannot be loaded: npm install libsql`;
      throw new ConfigError(setting, message, { cause });
    });
    const folder = path.dirname(path.resolve(file));
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      closeSync(openSync(file, "a", 0o600));
      chmodSync(file, 0o600);
      const database = new Libsql(file, { timeout: lockWaitMs });
      try {
        prepare(database);
        return new SqliteStore({ database, folder }, limits, now);
      } catch (error) {
        database.close();
        throw error;
      }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(setting, `${setting} ${file} cannot be opened: ${why}`, { cause });
    }
  }

  get size(): { count: number; bytes: number } {
    const [totals] = this.#rows("SELECT count, bytes FROM totals");
    const [count = 0, bytes = 0] = numbersOf(totals);
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
    this.#together(() => {
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
    if (!this.#database.open) return;
    try {
      this.#rows("PRAGMA wal_checkpoint(TRUNCATE)"); // deleted records are still in the log
    } catch (error) {
      // The log keeps everything until the next start, which reads it.
      if (!isDiskFull(error)) throw error;
    } finally {
      this.#database.close();
    }
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

  /** Reads all rows at once: a statement that is not at its end holds a snapshot of the file. */
  #rows(statement: string, ...values: (string | number)[]): unknown[][] {
    try {
      return rowsOf(this.#database, statement, ...values);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Runs a function as one transaction. */
  #together(action: () => void): void {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      action();
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw this.#failure(error);
    }
  }

  /** SQLite says that a disk is full, or, of the index of its log, only that it could not write. */
  #failure(cause: unknown): unknown {
    const code = codeOf(cause);
    const isFull =
      code === "SQLITE_FULL" || (code.startsWith("SQLITE_IOERR") && statfsSync(this.#folder).bavail === 0);
    if (!isFull) return cause;
    const message = `The disk under ${this.#folder}, where ${setting} keeps responses, is full. Free some space, or send store: false.`;
    return new WireError("disk_full", message, { cause });
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof WireError && error.code === "disk_full";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const setting = "--response-store";

/** Configures writing, and migrates the file to the newest version. */
function prepare(database: Database.Database): void {
  // Deleted texts are overwritten. With a log beside the file, a record needs no flush of the disk.
  for (const pragma of ["secure_delete = ON", "journal_mode = WAL", "synchronous = NORMAL"])
    rowsOf(database, `PRAGMA ${pragma}`);
  const [version = 0] = numbersOf(rowsOf(database, "PRAGMA user_version")[0]);
  if (version > migrations.length)
    throw new Error("a newer version of Ingle wrote it; choose another file, or update Ingle");
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${migration} PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

function rowsOf(database: Database.Database, statement: string, ...values: (string | number)[]): unknown[][] {
  const prepared = database.prepare(statement);
  if (!prepared.reader) {
    prepared.run(...values);
    return [];
  }
  const rows: unknown[] = prepared.raw().all(...values);
  return rows.map((row) => (Array.isArray(row) ? row : []));
}

function numbersOf(row: unknown[] | undefined): number[] {
  return (row ?? []).map(Number);
}
