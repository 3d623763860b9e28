// Files are written completely or not at all. test/quantize.model.test.ts tests their paths too.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineError } from "../base/errors.ts";
import { importModels } from "../library/import-model.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { chooseOutput, writeAtomically } from "./output-file.ts";

let folder: string;
const at = (name: string): string => path.join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-output-"));
});
afterEach(() => rm(folder, { recursive: true }));

const failing = async (unfinished: string): Promise<never> => {
  await writeFile(unfinished, "half of it");
  throw new EngineError("engine_failed", "The quantized file could not be written.");
};

it("a file gets its name once it is complete", async () => {
  const seen = await writeAtomically(
    at("made.gguf"),
    async (unfinished) => {
      await writeFile(unfinished, "all of it");
      return await readdir(folder);
    },
    {},
  );
  expect(seen).toEqual([expect.stringMatching(/^made\.gguf\..+\.part$/)]);
  expect(await readdir(folder)).toEqual(["made.gguf"]);
  expect(await readFile(at("made.gguf"), "utf8")).toBe("all of it");
});

it("a failed write throws disk_full on a full disk, its own error otherwise, and leaves nothing behind", async () => {
  const writeWithFreeSpace = (free: number) =>
    writeAtomically(at("made.gguf"), failing, { freeBytes: async () => free });
  await expect(writeWithFreeSpace(4096)).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("choose a folder on a larger disk"),
  });
  await expect(writeWithFreeSpace(1e12)).rejects.toMatchObject({ code: "engine_failed" });
  expect(await readdir(folder)).toEqual([]);
});

it("an existing file of that name stays if the new one fails", async () => {
  await writeFile(at("made.gguf"), "of value");
  await expect(writeAtomically(at("made.gguf"), failing, {})).rejects.toMatchObject({
    code: "engine_failed",
  });
  expect(await readdir(folder)).toEqual(["made.gguf"]);
  expect(await readFile(at("made.gguf"), "utf8")).toBe("of value");
});

it("a file goes next to the model, into a given folder, or into Ingle's own if the model is another program's, was imported or was converted", async () => {
  const env = { HOME: folder, INGLE_HOME: at("ingle"), LLAMA_CACHE: at("theirs") };
  await mkdir(at("theirs"));
  await mkdir(at("mine"));
  await mkdir(at("ingle/converted"), { recursive: true });
  for (const file of ["theirs/a.gguf", "mine/a.gguf", "ingle/converted/a.gguf"])
    await writeFile(at(file), fakeGguf({ dataBytes: 10 }));
  const choose = async (file: string, output?: string): Promise<string> =>
    path.relative(folder, await chooseOutput([at(file)], "a-Q8_0.gguf", { env, cwd: folder, output }));
  expect(await choose("mine/a.gguf")).toBe("mine/a-Q8_0.gguf");
  expect(await choose("mine/a.gguf", "theirs")).toBe("theirs/a-Q8_0.gguf");
  expect(await choose("mine/a.gguf", "other.gguf")).toBe("other.gguf");
  for (const file of ["theirs/a.gguf", "ingle/converted/a.gguf"])
    expect(await choose(file)).toBe("ingle/models/a-Q8_0.gguf");
  await importModels(at("mine/a.gguf"), { env });
  expect(await choose("mine/a.gguf")).toBe("ingle/models/a-Q8_0.gguf");
});

it("a file in a missing folder is refused, however its path is written", async () => {
  await writeFile(at("a.gguf"), fakeGguf());
  for (const output of ["none/", "none/b.gguf"])
    await expect(chooseOutput([at("a.gguf")], "b.gguf", { cwd: folder, output })).rejects.toMatchObject({
      code: "invalid_request",
      message: `There is no folder ${at("none")}.`,
    });
});
