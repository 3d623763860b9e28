import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  isReadableByOthers,
  makeWorkerKey,
  parseWorkerKey,
  readWorkerKey,
  saveWorkerKey,
} from "./worker-key.ts";
import { WorkerAddress } from "./worker-address.ts";

let folder = "";
beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "ingle-key-"))));
afterAll(async () => rm(folder, { recursive: true, force: true }));

describe("a worker key", () => {
  it("has 256 bits, and its id reveals none of them", () => {
    const text = makeWorkerKey();
    const { secret, id } = parseWorkerKey(`${text}\n`);
    expect(secret).toHaveLength(32);
    expect(secret.toString("hex")).not.toContain(id);
    expect(makeWorkerKey()).not.toBe(text);
  });

  it("is rejected if it is malformed, and the error does not repeat it", () => {
    const text = makeWorkerKey();
    for (const wrong of [
      "",
      "ingle-worker-",
      text.slice(0, -1),
      `${text}A`,
      text.slice(6),
      `${text.slice(0, -1)}!`,
    ]) {
      expect(() => parseWorkerKey(wrong)).toThrow("not a worker key");
      if (wrong.length > 20) expect(() => parseWorkerKey(wrong)).not.toThrow(wrong.slice(13));
    }
  });

  it("is saved for its owner only, and read back from a file with comments", async () => {
    const file = path.join(folder, "deep", "worker.key");
    const text = makeWorkerKey();
    await saveWorkerKey(file, text);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toBe(`${text}\n`);
    expect(await readWorkerKey(file)).toMatchObject({ text, isOpenToOthers: false });
    await writeFile(file, `# of the two desks\n\n${text}\n`);
    await chmod(file, 0o644);
    expect(await readWorkerKey(file)).toMatchObject({ text, isOpenToOthers: true });
  });

  it("is reported missing with the command that creates one, and a file that is not a key is rejected", async () => {
    const missing = readWorkerKey(path.join(folder, "none"));
    await expect(missing).rejects.toMatchObject({ code: "invalid_request", details: { isMissing: 1 } });
    await expect(missing).rejects.toThrow("ingle worker --pair");
    const file = path.join(folder, "long");
    await writeFile(file, "x".repeat(5000));
    await expect(readWorkerKey(file)).rejects.toMatchObject({ details: { isMissing: 0 } });
  });
});

describe("a worker's address", () => {
  it("is host:port with an optional port", () => {
    expect(WorkerAddress.parse("desk.local:50000")).toEqual({ host: "desk.local", port: 50_000 });
    expect(WorkerAddress.parse("192.168.1.20")).toEqual({ host: "192.168.1.20", port: 50_052 });
    expect(WorkerAddress.parse("[fe80::1]:7")).toEqual({ host: "fe80::1", port: 7 });
  });

  it.each(["", "a:b", "host:0", "host:65536", "fe80::1", "[nonsense]:1", "https://host:1", "a b:1"])(
    "is not %j",
    (text) => expect(WorkerAddress.safeParse(text).success).toBe(false),
  );
});

describe("others can read a file of keys", () => {
  const user = 1000;

  it("when its owner lets a group or everybody read it", () => {
    const isReadable = (mode: number): boolean => isReadableByOthers({ mode, uid: user }, user);
    expect([0o600, 0o640, 0o604, 0o644].map(isReadable)).toEqual([false, true, true, true]);
  });

  it("only when everybody may read it, where its owner is somebody else and the group is how this user reads it", () => {
    const isReadable = (mode: number): boolean => isReadableByOthers({ mode, uid: 0 }, user);
    expect([0o440, 0o640, 0o444].map(isReadable)).toEqual([false, false, true]);
  });

  it("never where there are no such rights, as on Windows", () => {
    expect(isReadableByOthers({ mode: 0o666, uid: 0 }, undefined)).toBe(false);
  });
});
