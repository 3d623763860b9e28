import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { merged, saveConfig } from "./saved-config.ts";

const now = new Date("2026-11-29T12:00:00Z");
let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), "ingle-saved-"))));
afterEach(() => rm(folder, { recursive: true }));

const save = (file: string, content: object) =>
  saveConfig({ file: path.join(folder, file), content: { ...content }, now });

describe("a configuration", () => {
  it("that does not exist yet is readable by its owner only, because it may hold a key", async () => {
    expect(await save("a/b/settings.json", { key: "secret" })).toBeUndefined();
    const file = path.join(folder, "a/b/settings.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ key: "secret" });
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("keeps what the new settings do not name, and its copy is exactly what was there", async () => {
    const text = '{ "theme": "dark",\n  "models": { "small": 1 } }';
    await writeFile(path.join(folder, "settings.json"), text, { mode: 0o644 });
    const backup = await save("settings.json", { models: { large: 2 } });
    expect(backup).toBe(path.join(folder, "settings.json.2026-11-29T12-00-00-000Z.backup"));
    expect(await readFile(backup ?? "", "utf8")).toBe(text);
    const file = path.join(folder, "settings.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      theme: "dark",
      models: { small: 1, large: 2 },
    });
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readdir(folder)).toHaveLength(2);
  });

  it.runIf(process.platform !== "win32")("behind a link is changed where it is", async () => {
    await writeFile(path.join(folder, "real.json"), "{}");
    await symlink("real.json", path.join(folder, "settings.json"));
    await save("settings.json", { a: 1 });
    expect(JSON.parse(await readFile(path.join(folder, "real.json"), "utf8"))).toEqual({ a: 1 });
    expect((await readdir(folder)).toSorted()).toEqual([
      "real.json",
      "real.json.2026-11-29T12-00-00-000Z.backup",
      "settings.json",
    ]);
  });

  it.each(['{ "a": 1, // a comment\n }', "[1]", "nothing"])(
    "of the text %j is left as it is",
    async (text) => {
      await writeFile(path.join(folder, "settings.json"), text);
      await expect(save("settings.json", { a: 2 })).rejects.toThrow(/is not plain JSON[\s\S]*"a": 2/);
      expect(await readFile(path.join(folder, "settings.json"), "utf8")).toBe(text);
      expect(await readdir(folder)).toHaveLength(1);
    },
  );
});

describe("merging", () => {
  it("replaces the entry of an array that has the same key, and keeps the others", () => {
    const old = { list: [{ id: "a", size: 1 }, { id: "b" }, "text"], other: [1, 2] };
    const added = { list: [{ id: "a", size: 2 }], other: [3] };
    expect(merged(old, added, "id")).toEqual({
      list: [{ id: "b" }, "text", { id: "a", size: 2 }],
      other: [3],
    });
  });

  it("replaces values of another type", () => {
    expect(merged({ a: "text", b: { c: 1 } }, { a: { d: 1 }, b: 2 })).toEqual({ a: { d: 1 }, b: 2 });
  });
});
