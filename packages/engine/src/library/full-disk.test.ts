// Removing models while the disk is too full to update the manifest.
import fileSystem, { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { importModels } from "./import-model.ts";
import { listModels } from "./installed.ts";
import { readManifest } from "./manifest.ts";
import { libraryPaths } from "../base/home.ts";
import { pruneLibrary, removeModel } from "./remove-model.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";

const { writeFile: realWriteFile } = fileSystem;

/** From now on no file can be written for later renaming. */
function fillDisk(): void {
  vi.spyOn(fileSystem, "writeFile").mockImplementation(async (file, ...rest) => {
    if (typeof file === "string" && file.endsWith(".part"))
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    await realWriteFile(file, ...rest);
  });
  syncBuiltinESMExports();
}

function freeDisk(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

let user: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-full-disk-"));
  env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), INGLE_OFFLINE: "1" };
  await mkdir(path.join(user, "elsewhere"));
  await writeFile(path.join(user, "elsewhere/mine-Q8_0.gguf"), fakeGguf());
});

afterEach(async () => {
  freeDisk();
  await rm(user, { recursive: true });
});

test("one of Ingle's models is removed, and its entry later", async () => {
  await importModels("elsewhere", { env, cwd: user, copy: true, alias: "daily" });
  fillDisk();
  expect(await removeModel("daily", { env })).toMatchObject({
    what: "mine-Q8_0",
    freedBytes: fakeGguf().length,
  });
  expect(await listModels({ env })).toEqual([]);
  freeDisk();
  expect(await pruneLibrary({ env })).toMatchObject([{ what: "mine-Q8_0", reason: "gone" }]);
  expect(await readManifest(libraryPaths(env))).toMatchObject({ models: [], aliases: {} });
});

test("an imported model stays, and the error says what to do", async () => {
  await importModels("elsewhere", { env, cwd: user });
  fillDisk();
  await expect(removeModel("mine-Q8_0", { env })).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("Free some space"),
  });
  expect(await listModels({ env })).toMatchObject([{ id: "mine-Q8_0" }]);
});
