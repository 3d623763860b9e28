import { describe, expect, it } from "vitest";
import { entryIdIn, KeyFile, makeKey, matchesKey } from "./key-file.ts";

const wish = { name: "reports", scope: "inference" } as const;

describe("a key", () => {
  it("matches its entry only, which does not contain it", async () => {
    const [one, other] = [await makeKey(wish, new Date(5_000)), await makeKey(wish)];
    expect(one.entry).toMatchObject({ ...wish, created_at: 5, ending: one.key.slice(-4) });
    expect(one.entry.id).toBe(entryIdIn(one.key));
    expect(JSON.stringify(one.entry)).not.toContain(one.key.slice(-20));
    const asked = [one.key, other.key, `${one.key.slice(0, -1)}-`, ""];
    const matches = await Promise.all(asked.map(async (key) => await matchesKey(one.entry, key)));
    expect(matches).toEqual([true, false, false, false]);
  });

  // Computed by Python 3.11's hashlib.scrypt, n=2**14, r=8, p=1, dklen=32, of the salt `0123456789abcdef`.
  it("is hashed as other programs do", async () => {
    const { entry } = await makeKey(wish);
    const hash = "$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$6KIpf9odaiW1YV2u3iTii4DnO52T3IwjoXBvIcvaKII";
    expect(await matchesKey({ ...entry, hash }, "sk-ingle-test")).toBe(true);
  });

  it.each(["sk-ingle-", `sk-ingle-${"a".repeat(43)}`, "Bearer x"])("is not %s", (text) => {
    expect(entryIdIn(text)).toBeUndefined();
  });
});

describe("a key file", () => {
  it("refuses what would limit nothing, and keys that cannot be told apart", async () => {
    const { entry } = await makeKey(wish);
    const other = { ...entry, id: "0".repeat(12), name: "editor" };
    const problem = (...keys: unknown[]) => {
      const checked = KeyFile.safeParse({ version: 1, keys });
      return checked.success ? undefined : checked.error.issues[0]?.message;
    };
    expect(problem(entry, other)).toBeUndefined();
    expect(problem({ ...entry, models: ["lfm2*"], tokens_per_day: 5, priority: "low" })).toBeUndefined();
    expect(problem({ ...entry, token_per_day: 5 })).toMatch(/token_per_day/);
    expect(problem({ ...entry, tokens_per_day: 0 })).toBeDefined();
    expect(problem({ ...entry, expires_at: "tomorrow" })).toMatch(/must be a time such as/);
    expect(problem({ ...entry, hash: "secret" })).toMatch(/ingle keys add/);
    expect(problem({ ...entry, scope: "management", models: ["a"] })).toMatch(/inference keys/);
    expect(problem(entry, { ...other, name: entry.name })).toMatch(/same name/);
    expect(problem(entry, { ...other, id: entry.id })).toMatch(/same id/);
  });
});
