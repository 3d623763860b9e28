// deploy/test/read-only-home.root.test.ts has a disk that is read-only.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";

import { LockError, whileLocked } from "./file-lock.ts";
import { whyUnwritable } from "./unwritable.ts";

const folder = await mkdtemp(path.join(tmpdir(), "ingle-unwritable-"));
afterAll(async () => rm(folder, { recursive: true, force: true }));

const failure = (code: string): Error => Object.assign(new Error(`${code}: it failed`), { code });

it.each([
  ["ENOSPC", "its disk is full"],
  ["EDQUOT", "this user's share of the disk is full"],
  ["EROFS", "its disk is read-only"],
  ["EIO", "EIO: it failed"],
])("says what %s means in a folder that may be written", (code, why) => {
  expect(whyUnwritable(path.join(tmpdir(), "ingle-none", "deeper"), failure(code))).toBe(why);
});

it("names a file in the place of a folder", async () => {
  const file = path.join(folder, "taken");
  await writeFile(file, "");
  const attempt = whileLocked(path.join(file, "settings.jsonc"), async () => {});
  await expect(attempt).rejects.toThrow(
    new LockError(`The folder ${file} cannot be made: ${file} is a file.`),
  );
});
