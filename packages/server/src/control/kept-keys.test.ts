import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { keysMax } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../access/keys.ts";
import { hashKey } from "../api-key.ts";
import { scriptedControl } from "../../test/harness/scripted-control.ts";
import { KeptKeys } from "./kept-keys.ts";

const editor = { name: "editor", scope: "inference" } as const;
const boss = { name: "boss", scope: "management" } as const;

describe("a key", () => {
  it("is returned once, and stored as a digest", async () => {
    await using scripted = await scriptedControl();
    const made = await scripted.keys.create(editor, new Date(5_000_000));
    expect(made).toMatchObject({ ...editor, created_at: 5_000, ending: made.key.slice(-4) });
    expect(made.key).toMatch(/^sk-ingle-[\w-]{43}$/);
    const file = await readFile(path.join(scripted.folder, "keys.json"), "utf8");
    expect(file).not.toContain(made.key);
    expect(file).toContain(hashKey(made.key));
    const { key: _, ...shown } = made;
    expect(scripted.keys.list()).toEqual([shown]);
    expect((await KeptKeys.open(path.join(scripted.folder, "keys.json"))).list()).toEqual([shown]);
  });

  it("works in a key ring from its creation until it is revoked", async () => {
    await using scripted = await scriptedControl();
    const ring = new KeyRing();
    scripted.keys.keepIn(ring);
    const findScope = ({ key }: { key: string }) => ring.scopeOf(hashKey(key));
    expect(ring.isNeeded).toBe(false);
    const [one, other] = [await scripted.keys.create(editor), await scripted.keys.create(boss)];
    expect([findScope(one), findScope(other), ring.isNeeded]).toEqual(["inference", "management", true]);
    await scripted.keys.revoke(one.id);
    expect([findScope(one), findScope(other)]).toEqual([undefined, "management"]);
    await scripted.keys.revoke(other.id);
    expect([findScope(other), scripted.keys.size]).toEqual([undefined, 0]);
    expect(ring.isNeeded).toBe(true); // revoking the last key opens the server to nobody
  });

  it("cannot be revoked by an unknown id, nor created beyond the limit", async () => {
    await using scripted = await scriptedControl();
    await expect(scripted.keys.revoke("nobody")).rejects.toMatchObject({ code: "invalid_request" });
    await Promise.all(Array.from({ length: keysMax }, () => scripted.keys.create(editor)));
    await expect(scripted.keys.create(editor)).rejects.toMatchObject({ code: "invalid_request" });
    expect(scripted.keys.list()).toHaveLength(keysMax);
  });
});

it("keys of a damaged file are ignored, and reported until one is created", async () => {
  await using scripted = await scriptedControl();
  const file = path.join(scripted.folder, "keys.json");
  await writeFile(file, '{"version":1,"keys":[{"id":"a"}]}');
  const keys = await KeptKeys.open(file);
  expect([keys.size, keys.problem]).toEqual([0, expect.stringContaining("keys.json cannot be used")]);
  await keys.create(editor);
  expect(keys.problem).toBeUndefined();
});
