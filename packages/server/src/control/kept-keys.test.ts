import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { keysMax } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../access/keys.ts";
import { hashKey } from "../api-key.ts";
import { KeyMeters } from "../access/key-usage.ts";
import { scriptedControl } from "../../test/harness/scripted-control.ts";
import { KeptKeys } from "./kept-keys.ts";

const editor = { name: "editor", scope: "inference" } as const;
const boss = { name: "boss", scope: "management" } as const;

describe("a key", () => {
  it("is returned once, and stored as a hash", async () => {
    await using scripted = await scriptedControl();
    const made = await scripted.keys.create(editor, new Date(5_000_000));
    expect(made).toMatchObject({ ...editor, created_at: 5_000, ending: made.key.slice(-4) });
    expect(made.key).toMatch(/^sk-ingle-[0-9a-f]{12}-[\w-]{43}$/);
    const file = await readFile(path.join(scripted.folder, "keys.json"), "utf8");
    expect(file).not.toContain(made.key);
    expect(file).toMatch(/"\$scrypt\$ln=14,r=8,p=1\$/);
    const { key: _, ...shown } = made;
    expect(scripted.keys.list(new KeyMeters())).toEqual([shown]);
    expect((await KeptKeys.open(path.join(scripted.folder, "keys.json"))).list(new KeyMeters())).toEqual([
      shown,
    ]);
  });

  it("works in a key ring from its creation until it is revoked", async () => {
    await using scripted = await scriptedControl();
    const ring = new KeyRing();
    scripted.keys.keepIn(ring);
    const findScope = async ({ key }: { key: string }) => {
      await ring.check(key, hashKey(key));
      return ring.find(hashKey(key))?.scope;
    };
    expect(ring.isNeeded).toBe(false);
    const [one, other] = [await scripted.keys.create(editor), await scripted.keys.create(boss)];
    expect([await findScope(one), await findScope(other), ring.isNeeded]).toEqual([
      "inference",
      "management",
      true,
    ]);
    await scripted.keys.revoke(one.id);
    expect([await findScope(one), await findScope(other)]).toEqual([undefined, "management"]);
    await scripted.keys.revoke(other.id);
    expect([await findScope(other), scripted.keys.size]).toEqual([undefined, 0]);
    expect(ring.isNeeded).toBe(true); // revoking the last key opens the server to nobody
  });

  it("cannot be revoked by an unknown id, nor created beyond the limit or with the name of another", async () => {
    await using scripted = await scriptedControl();
    await scripted.keys.create({ ...editor, name: "0" });
    await expect(scripted.keys.create({ ...boss, name: "0" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await scripted.keys.revoke(scripted.keys.list(new KeyMeters())[0]?.id ?? "");
    await expect(scripted.keys.revoke("nobody")).rejects.toMatchObject({ code: "invalid_request" });
    await Promise.all(
      Array.from({ length: keysMax }, (_, at) => scripted.keys.create({ ...editor, name: String(at) })),
    );
    await expect(scripted.keys.create(editor)).rejects.toMatchObject({ code: "invalid_request" });
    expect(scripted.keys.list(new KeyMeters())).toHaveLength(keysMax);
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
