import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { checkDiskSpace, diskFailure, freeBytesOn } from "./disk-space.ts";
import { ensureStarterModel } from "./fetch-model.ts";

test("a disk with just enough space passes, with one byte less it does not", async () => {
  await checkDiskSpace("/models", 1000, async () => 1000);
  const checking = checkDiskSpace("/models", 1001, async () => 1000);
  await expect(checking).rejects.toMatchObject({
    code: "disk_full",
    details: { neededBytes: 1001, freeBytes: 1000 },
  });
});

test("the real disk reports its free space", async () => {
  expect(await freeBytesOn(tmpdir())).toBeGreaterThan(0);
});

test("a disk that fills up during a download is the same error", () => {
  const error = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  expect(diskFailure(error, "/models")).toMatchObject({ code: "disk_full", cause: error });
});

test("other errors are returned unchanged", () => {
  const error = new TypeError("a mistake of ours");
  expect(diskFailure(error, "/models")).toBe(error);
});

test("an INGLE_HOME that is not writable is an error that says so", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-home-"));
  const file = path.join(folder, "file");
  await writeFile(file, "");
  const ensuring = ensureStarterModel({ env: { INGLE_HOME: file } });
  await expect(ensuring).rejects.toMatchObject({ code: "download_failed" });
  await expect(ensuring).rejects.toThrow("INGLE_HOME");
  await rm(folder, { recursive: true });
});
