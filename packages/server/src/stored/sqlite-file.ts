// An SQLite file that only this user may read, brought to the newest version of its tables when it is opened. libsql is SQLite with one
// small package for each platform; it is an optional dependency.
import { chmodSync, closeSync, mkdirSync, openSync, statfsSync } from "node:fs";
import path from "node:path";
import type Database from "libsql";
import { ConfigError } from "../settings/resolve.ts";
import { whyUnwritable } from "../unwritable.ts";
import { WireError } from "../wire-error.ts";

/** Time to wait for another process that writes, in milliseconds. */
const lockWaitMs = 5_000;
/** The same, of a file that one process at a time uses: whoever has it keeps it. */
const exclusiveLockWaitMs = 100;

interface SqliteFileOptions {
  /** The flag that names the file, for errors. */
  readonly setting: string;
  /** What it keeps, and what to do when the disk is full, as parts of that error's sentence. */
  readonly keeps: string;
  readonly whenFull: string;
  /**
   * The migrations, each from one version of the file to the next, starting with an empty file. `user_version` is the number of
   * migrations that a file has had. Released migrations never change.
   */
  readonly migrations: readonly string[];
  /** SQLite's number for what a file holds, so that a file of something else is refused. Default: 0, not checked. */
  readonly applicationId?: number;
  /** Whether only one process at a time may use the file. It is free when that process ends, however it ends. Default: false. */
  readonly isExclusive?: boolean;
}

export type SqliteValue = string | number | null;

/** All methods throw `disk_full` if the file's disk is full; its content is then as before. */
export class SqliteFile implements Disposable {
  readonly #database: Database.Database;
  readonly #folder: string;
  readonly #options: SqliteFileOptions;
  readonly #lock: Disposable | undefined;

  private constructor(
    database: Database.Database,
    { folder, options, lock }: { folder: string; options: SqliteFileOptions; lock: Disposable | undefined },
  ) {
    this.#database = database;
    this.#folder = folder;
    this.#options = options;
    this.#lock = lock;
  }

  /**
   * Opens or creates the file. Throws ConfigError if libsql is missing, a newer version wrote the file, or it is no database or one
   * of something else.
   */
  static async open(file: string, options: SqliteFileOptions): Promise<SqliteFile> {
    const { setting } = options;
    const { default: Libsql } = await import("libsql").catch((cause: unknown) => {
      const message = `${setting} ${file} needs the package libsql, which cannot be loaded: npm install libsql`;
      throw new ConfigError(setting, message, { cause });
    });
    const folder = path.dirname(path.resolve(file));
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const lock = options.isExclusive === true ? takeLock(`${file}-lock`, Libsql) : undefined;
      closeSync(openSync(file, "a", 0o600));
      chmodSync(file, 0o600);
      const database = new Libsql(file, { timeout: lockWaitMs });
      try {
        prepare(database, options);
        return new SqliteFile(database, { folder, options, lock });
      } catch (error) {
        database.close();
        lock?.[Symbol.dispose]();
        throw error;
      }
    } catch (cause) {
      const isLocked = sqliteCode(cause).startsWith("SQLITE_BUSY");
      const why = isLocked ? "another process uses it" : whyUnwritable(folder, cause);
      throw new ConfigError(setting, `${setting} ${file} cannot be opened: ${why}`, { cause });
    }
  }

  /** Reads all rows at once: a statement that is not at its end holds a snapshot of the file. */
  rows(statement: string, ...values: SqliteValue[]): unknown[][] {
    try {
      return readRows(this.#database, statement, ...values);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Runs a function as one transaction. */
  together<Result>(action: () => Result): Result {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      const result = action();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw this.#failure(error);
    }
  }

  /** SQLite says that a disk is full, or, of the index of its log, only that it could not write. */
  #failure(cause: unknown): unknown {
    const code = sqliteCode(cause);
    const isFull =
      code === "SQLITE_FULL" || (code.startsWith("SQLITE_IOERR") && statfsSync(this.#folder).bavail === 0);
    if (!isFull) return cause;
    const { setting, keeps, whenFull } = this.#options;
    const message = `The disk under ${this.#folder}, where ${setting} keeps ${keeps}, is full. ${whenFull}`;
    return new WireError("disk_full", message, { cause });
  }

  [Symbol.dispose](): void {
    if (!this.#database.open) return;
    try {
      this.rows("PRAGMA wal_checkpoint(TRUNCATE)"); // deleted records are still in the log
    } catch (error) {
      // The log keeps everything until the next start, which reads it.
      if (!isDiskFull(error)) throw error;
    } finally {
      this.#database.close();
      this.#lock?.[Symbol.dispose]();
    }
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof WireError && error.code === "disk_full";
}

function sqliteCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/**
 * A file without content that is locked by a transaction which stays open. The system frees it at the end of the process. The database
 * itself cannot be locked so: it is not free before its last statement is collected.
 */
function takeLock(file: string, Libsql: typeof Database): Disposable {
  closeSync(openSync(file, "a", 0o600));
  const database = new Libsql(file, { timeout: exclusiveLockWaitMs });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    [Symbol.dispose]: () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

/** Configures writing, and migrates the file to the newest version. */
function prepare(
  database: Database.Database,
  { migrations, applicationId = 0 }: Pick<SqliteFileOptions, "migrations" | "applicationId">,
): void {
  // Deleted texts are overwritten. With a log beside the file, a record needs no flush of the disk.
  for (const pragma of ["secure_delete = ON", "journal_mode = WAL", "synchronous = NORMAL"])
    readRows(database, `PRAGMA ${pragma}`);
  const [version = 0] = toNumbers(readRows(database, "PRAGMA user_version")[0]);
  const [found = 0] = toNumbers(readRows(database, "PRAGMA application_id")[0]);
  if (version > 0 && found !== applicationId)
    throw new Error("it belongs to something else; choose another file");
  if (version > migrations.length)
    throw new Error("a newer version of Ingle wrote it; choose another file, or update Ingle");
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    const mark = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${index + 1};`;
    database.exec(`BEGIN IMMEDIATE; ${migration} ${mark} COMMIT`);
  }
}

function readRows(database: Database.Database, statement: string, ...values: SqliteValue[]): unknown[][] {
  const prepared = database.prepare(statement);
  if (!prepared.reader) {
    prepared.run(...values);
    return [];
  }
  const rows: unknown[] = prepared.raw().all(...values);
  return rows.map((row) => (Array.isArray(row) ? row : []));
}

/** The numbers of a row. */
export function toNumbers(row: unknown[] | undefined): number[] {
  return (row ?? []).map(Number);
}
