import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { returnText, type BrowserKey } from "@ingle/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KnownBrowsers } from "./known-browsers.ts";

const origin = "http://127.0.0.1:1336";
const dayMs = 24 * 3_600_000;

let folder: string;
let now: number;
let browsers: KnownBrowsers;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-browsers-"));
  now = 1e12;
  browsers = await open();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (): string => path.join(folder, "browsers.json");
const open = (): Promise<KnownBrowsers> => KnownBrowsers.open(file(), () => now);

interface Profile {
  key: BrowserKey;
  privateKey: KeyObject;
}

function newProfile(): Profile {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return { key: { x, y }, privateKey };
}

function proof({ privateKey }: Profile, browser: string, challenge: string, at = origin) {
  const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
  const signature = sign("sha256", Buffer.from(returnText(at, challenge)), key).toString("base64url");
  return { browser, challenge, signature };
}

describe("a known browser", () => {
  it("comes back after a restart, each time with another challenge", async () => {
    const profile = newProfile();
    const id = await browsers.remember(profile.key, origin);
    const after = await open();
    for (const _time of [1, 2])
      expect(await after.returns(proof(profile, id, after.challenge()), origin)).toBe(true);
  });

  it("does not come back with a challenge that was answered, has expired, or is from before the restart", async () => {
    const profile = newProfile();
    const id = await browsers.remember(profile.key, origin);
    const answered = proof(profile, id, browsers.challenge());
    expect(await browsers.returns(answered, origin)).toBe(true);
    expect(await browsers.returns(answered, origin)).toBe(false);
    const old = proof(profile, id, browsers.challenge());
    expect(await (await open()).returns(old, origin)).toBe(false);
    now += 61_000;
    expect(await browsers.returns(old, origin)).toBe(false);
    expect(await browsers.returns(proof(profile, id, "invented"), origin)).toBe(false);
  });

  it("comes back only at its own address", async () => {
    const profile = newProfile();
    const id = await browsers.remember(profile.key, origin);
    const elsewhere = "http://127.0.0.1:1338";
    for (const signedFor of [origin, elsewhere])
      expect(await browsers.returns(proof(profile, id, browsers.challenge(), signedFor), elsewhere)).toBe(
        false,
      );
    expect(await browsers.returns(proof(profile, id, browsers.challenge(), elsewhere), origin)).toBe(false);
  });

  it("is nobody else: another key, or its id alone, is not enough", async () => {
    const [one, other] = [newProfile(), newProfile()];
    const id = await browsers.remember(one.key, origin);
    const otherId = await browsers.remember(other.key, origin);
    expect(await browsers.returns(proof(other, id, browsers.challenge()), origin)).toBe(false);
    expect(await browsers.returns(proof(one, otherId, browsers.challenge()), origin)).toBe(false);
    const empty = { browser: id, challenge: browsers.challenge(), signature: "A".repeat(86) };
    expect(await browsers.returns(empty, origin)).toBe(false);
  });

  it("is forgotten on demand, after half a year without use, and beyond fifty others", async () => {
    const [one, two, three] = [newProfile(), newProfile(), newProfile()];
    const ids = [];
    for (const { key } of [one, two, three]) ids.push(await browsers.remember(key, origin));
    const [first = "", second = "", third = ""] = ids;
    await browsers.forget(first);
    expect(await browsers.returns(proof(one, first, browsers.challenge()), origin)).toBe(false);
    now += 100 * dayMs;
    expect(await browsers.returns(proof(two, second, browsers.challenge()), origin)).toBe(true);
    now += 100 * dayMs;
    expect(await browsers.returns(proof(three, third, browsers.challenge()), origin)).toBe(false);
    expect(await browsers.returns(proof(two, second, browsers.challenge()), origin)).toBe(true);
    for (let count = 0; count < 50; count += 1) await browsers.remember(newProfile().key, origin);
    expect(await browsers.returns(proof(two, second, browsers.challenge()), origin)).toBe(false);
  });
});

describe("the file", () => {
  it("has public keys only, and only its owner may read it", async () => {
    const { key, privateKey } = newProfile();
    await browsers.remember(key, origin);
    const text = await readFile(file(), "utf8");
    expect(text).toContain(key.x);
    expect(text).not.toContain(privateKey.export({ format: "jwk" }).d);
    if (process.platform !== "win32") expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it("that is damaged is as an empty one", async () => {
    await writeFile(file(), "{");
    const profile = newProfile();
    const after = await open();
    const id = await after.remember(profile.key, origin);
    expect(await after.returns(proof(profile, id, after.challenge()), origin)).toBe(true);
  });

  it("takes no text that is no key", async () => {
    const wrong = { x: "A".repeat(43), y: "A".repeat(43) };
    await expect(browsers.remember(wrong, origin)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

it("open challenges are bounded: the oldest is forgotten", async () => {
  const profile = newProfile();
  const id = await browsers.remember(profile.key, origin);
  const first = browsers.challenge();
  for (let count = 0; count < 999; count += 1) browsers.challenge();
  expect(await browsers.returns(proof(profile, id, first), origin)).toBe(true);
  const second = browsers.challenge();
  for (let count = 0; count < 1_000; count += 1) browsers.challenge();
  expect(await browsers.returns(proof(profile, id, second), origin)).toBe(false);
});
