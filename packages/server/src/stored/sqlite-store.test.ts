import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import Database from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { anyCommands, expectAsModel, limits } from "../../test/store-model.ts";
import { SqliteStore } from "./sqlite-store.ts";

let folder = "";
const file = (): string => path.join(folder, "below", "responses.db");

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "ingle-store-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("whatever is put, read and deleted in any order, it holds the newest records within its limits", async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(anyCommands, async (commands) => {
      let now = 0;
      using store = await SqliteStore.open(path.join(folder, `${(runs += 1)}.db`), limits, () => now);
      expectAsModel(store, commands, (at) => (now = at));
      const { count, bytes } = store.size;
      expect(count).toBeLessThanOrEqual(limits.countMax);
      expect(bytes).toBeLessThanOrEqual(limits.bytesMax);
    }),
    { numRuns: 50 },
  );
});

test("is there after a restart, within the new limits", async () => {
  {
    using store = await SqliteStore.open(file(), limits, () => 0);
    for (const id of ["a", "b", "c"]) store.put({ id, owner: "one", text: `text of ${id}` });
  }
  using store = await SqliteStore.open(file(), { ...limits, countMax: 2 }, () => 0);
  expect(["a", "b", "c"].map((id) => store.get(id, "one"))).toEqual([undefined, "text of b", "text of c"]);
  expect(store.size).toEqual({ count: 2, bytes: 18 });
});

test("only its owner may read the files", async () => {
  using store = await SqliteStore.open(file(), limits);
  store.put({ id: "a", owner: "", text: "secret" });
  for (const name of [file(), `${file()}-wal`]) expect(statSync(name).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
});

test("deleted texts are not in the file any more", async () => {
  {
    using store = await SqliteStore.open(file(), { ...limits, bytesMax: 100_000 });
    store.put({ id: "a", owner: "", text: "very-secret ".repeat(1_000) });
    store.put({ id: "b", owner: "", text: "kept" });
    store.delete("a", "");
  }
  const bytes = readFileSync(file());
  expect(bytes.includes("kept")).toBe(true);
  expect(bytes.includes("very-secret")).toBe(false);
});

test("a file of a newer version is left alone", async () => {
  (await SqliteStore.open(file(), limits))[Symbol.dispose]();
  const database = new Database(file());
  database.exec("PRAGMA user_version = 99");
  database.close();
  await expect(SqliteStore.open(file(), limits)).rejects.toMatchObject({
    setting: "--response-store",
    message: expect.stringContaining("newer version"),
  });
});

test("a file that is no database is an error of the setting", async () => {
  const other = path.join(folder, "notes.txt");
  writeFileSync(other, "These are notes.\n".repeat(1_000));
  await expect(SqliteStore.open(other, limits)).rejects.toMatchObject({
    setting: "--response-store",
    message: expect.stringContaining("not a database"),
  });
});

test("what fails half-way changes nothing", async () => {
  using store = await SqliteStore.open(file(), limits);
  store.put({ id: "a", owner: "", text: "kept" });
  const database = new Database(file());
  database.exec("CREATE TRIGGER broken BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'disk full'); END");
  expect(() => store.put({ id: "a", owner: "", text: "new" })).toThrow("disk full");
  expect([store.get("a", ""), store.size]).toEqual(["kept", { count: 1, bytes: 4 }]);
  database.exec("DROP TRIGGER broken");
  database.close();
  store.put({ id: "a", owner: "", text: "new" });
  expect([store.get("a", ""), store.size]).toEqual(["new", { count: 1, bytes: 3 }]);
});
