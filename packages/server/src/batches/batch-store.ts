// The files and batches of a folder, in an SQLite database; the contents of files lie beside it. One process uses a folder at a time: it
// holds a lock on the database, which ends with the process, however that ends.
import type { FileObject } from "@ingle/protocol";
import { SqliteFile, toNumbers, type SqliteValue } from "../stored/sqlite-file.ts";
import { isFinal, type BatchRecord } from "./batch-record.ts";

/** "btch", so that a file of something else is not taken for one of batches. */
const applicationId = 0x62_74_63_68;
/** Maximum number of batches that have ended, of all keys together; the oldest are forgotten first, not their files. */
const endedBatchesMax = 10_000;

const migrations: readonly string[] = [
  `CREATE TABLE files (
     place INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of creation
     id TEXT NOT NULL UNIQUE,
     owner TEXT NOT NULL,
     purpose TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     text TEXT NOT NULL -- JSON
   ) STRICT;
   CREATE INDEX files_of_owner ON files (owner, place);
   CREATE TABLE batches (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     owner TEXT NOT NULL,
     input TEXT NOT NULL, -- the id of its input file
     is_open INTEGER NOT NULL, -- 1: it has not ended
     text TEXT NOT NULL -- JSON
   ) STRICT;
   CREATE INDEX batches_of_owner ON batches (owner, place);
   CREATE INDEX open_batches ON batches (input) WHERE is_open = 1;`,
];

/** Which part of a list is returned. */
export interface PageQuery {
  readonly limit: number;
  /** The id that the page begins after. Undefined: it begins at the first. */
  readonly after: string | undefined;
  readonly isNewestFirst: boolean;
  /** Only files of this purpose. */
  readonly purpose?: string | undefined;
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** All methods throw `disk_full` if the disk is full. */
export class BatchStore implements Disposable {
  readonly #file: SqliteFile;

  private constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Throws ConfigError for a database that cannot be used, and for one that another process uses. */
  static async open(file: string): Promise<BatchStore> {
    const opened = await SqliteFile.open(file, {
      setting: "--batch-store",
      keeps: "files and batches",
      whenFull: "Free some space, or delete files.",
      migrations,
      applicationId,
      isExclusive: true,
    });
    return new BatchStore(opened);
  }

  addFile(file: FileObject, owner: string): void {
    this.#rows(
      "INSERT OR REPLACE INTO files (id, owner, purpose, bytes, text) VALUES (?, ?, ?, ?, ?)",
      file.id,
      owner,
      file.purpose,
      file.bytes,
      JSON.stringify(file),
    );
  }

  file(id: string, owner: string): FileObject | undefined {
    const [row] = this.#rows("SELECT text FROM files WHERE id = ? AND owner = ?", id, owner);
    return row === undefined ? undefined : toFile(row);
  }

  files(owner: string, query: PageQuery): ListPage<FileObject> {
    const { rows, hasMore } = this.#page("files", owner, query);
    return { items: rows.map(toFile), hasMore };
  }

  deleteFile(id: string): void {
    this.#rows("DELETE FROM files WHERE id = ?", id);
  }

  /** How many files an owner has, and how many bytes all files of all owners have. */
  fileCounts(owner: string): { ofOwner: number; bytesOfAll: number } {
    const sums = "SELECT count(*) FILTER (WHERE owner = ?), coalesce(sum(bytes), 0) FROM files";
    const [ofOwner = 0, bytesOfAll = 0] = toNumbers(this.#rows(sums, owner)[0]);
    return { ofOwner, bytesOfAll };
  }

  /** Adds or replaces a batch. */
  putBatch(record: BatchRecord): void {
    const { batch, owner } = record;
    const isOpen = isFinal(record) ? 0 : 1;
    this.#rows(
      `INSERT INTO batches (id, owner, input, is_open, text) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET is_open = excluded.is_open, text = excluded.text`,
      batch.id,
      owner,
      batch.input_file_id,
      isOpen,
      JSON.stringify(record),
    );
    this.#rows(
      `DELETE FROM batches WHERE is_open = 0 AND place <=
         (SELECT place FROM batches WHERE is_open = 0 ORDER BY place DESC LIMIT 1 OFFSET ${endedBatchesMax})`,
    );
  }

  /** Runs a function as one transaction. */
  together(action: () => void): void {
    this.#file.together(action);
  }

  batch(id: string, owner: string): BatchRecord | undefined {
    const [row] = this.#rows("SELECT text FROM batches WHERE id = ? AND owner = ?", id, owner);
    return row === undefined ? undefined : toRecord(row);
  }

  batches(owner: string, query: PageQuery): ListPage<BatchRecord> {
    const { rows, hasMore } = this.#page("batches", owner, query);
    return { items: rows.map(toRecord), hasMore };
  }

  /** All batches that have not ended, oldest first. */
  openBatches(): BatchRecord[] {
    return this.#rows("SELECT text FROM batches WHERE is_open = 1 ORDER BY place").map(toRecord);
  }

  /** The id of a batch that has not ended and reads this file. */
  openBatchOf(input: string): string | undefined {
    const [row] = this.#rows("SELECT id FROM batches WHERE input = ? AND is_open = 1", input);
    return row === undefined ? undefined : String(row[0]);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /** An unknown `after` gives an empty page. */
  #page(
    table: "files" | "batches",
    owner: string,
    { limit, after, isNewestFirst, purpose }: PageQuery,
  ): { rows: unknown[][]; hasMore: boolean } {
    const [beyond, order] = isNewestFirst ? ["<", "DESC"] : [">", "ASC"];
    const where = ["owner = ?"];
    const values: SqliteValue[] = [owner];
    if (after !== undefined) {
      where.push(`place ${beyond} (SELECT place FROM ${table} WHERE id = ? AND owner = ?)`);
      values.push(after, owner);
    }
    if (purpose !== undefined) {
      where.push("purpose = ?");
      values.push(purpose);
    }
    const rows = this.#rows(
      `SELECT text FROM ${table} WHERE ${where.join(" AND ")} ORDER BY place ${order} LIMIT ?`,
      ...values,
      limit + 1,
    );
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  #rows(statement: string, ...values: SqliteValue[]): unknown[][] {
    return this.#file.rows(statement, ...values);
  }
}

function parse([text]: unknown[]): unknown {
  return JSON.parse(String(text));
}

// oxlint-disable typescript/no-unsafe-type-assertion -- this file has written the rows
function toFile(row: unknown[]): FileObject {
  return parse(row) as FileObject;
}

function toRecord(row: unknown[]): BatchRecord {
  return parse(row) as BatchRecord;
}
// oxlint-enable typescript/no-unsafe-type-assertion
