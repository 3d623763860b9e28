// Removing models while the disk is too full to update the manifest.
import type * as FileSystem from "node:fs/promises";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { importModels } from "./import-model.ts";
import { listModels } from "./installed.ts";
import { readManifest } from "./manifest.ts";
import { libraryPaths } from "./paths.ts";
import { pruneLibrary, removeModel } from "./remove-model.ts";
import { fakeGguf } from "./testing/fake-gguf.ts";

const disk = vi.hoisted(() => ({ isFull: false }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof FileSystem>();
  const writeWhenFull: typeof real.writeFile = async (file, ...rest) => {
    if (disk.isFull && typeof file === "string" && file.endsWith(".part"))
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    await real.writeFile(file, ...rest);
  };
  return { ...real, writeFile: writeWhenFull };
});

let user: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-full-disk-"));
  env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), INGLE_OFFLINE: "1" };
  await mkdir(path.join(user, "elsewhere"));
  await writeFile(path.join(user, "elsewhere/mine-Q8_0.gguf"), fakeGguf());
});

afterEach(async () => {
  disk.isFull = false;
  await rm(user, { recursive: true });
});

test("one of Ingle's models is removed, and its entry later", async () => {
  await importModels("elsewhere", { env, cwd: user, copy: true, alias: "daily" });
  disk.isFull = true;
  expect(await removeModel("daily", { env })).toMatchObject({
    what: "mine-Q8_0",
    freedBytes: fakeGguf().length,
  });
  expect(await listModels({ env })).toEqual([]);
  disk.isFull = false;
  expect(await pruneLibrary({ env })).toMatchObject([{ what: "mine-Q8_0", reason: "gone" }]);
  expect(await readManifest(libraryPaths(env))).toMatchObject({ models: [], aliases: {} });
});

test("an imported model stays, and the error says what to do", async () => {
  await importModels("elsewhere", { env, cwd: user });
  disk.isFull = true;
  await expect(removeModel("mine-Q8_0", { env })).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("Free some space"),
  });
  expect(await listModels({ env })).toMatchObject([{ id: "mine-Q8_0" }]);
});
