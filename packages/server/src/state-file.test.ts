import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { StateFile } from "./state-file.ts";

const Count = z.object({ count: z.int() });
const zero = { count: 0 };

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-state-"));
  file = path.join(folder, "config/count.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const more = ({ count }: z.infer<typeof Count>) => ({ count: count + 1 });

it("has the initial state without a file, and then what was written last", async () => {
  const state = await StateFile.open(file, Count, zero);
  expect([state.current, state.problem]).toEqual([zero, undefined]);
  await state.change(more);
  expect(state.current).toEqual({ count: 1 });
  expect((await StateFile.open(file, Count, zero)).current).toEqual({ count: 1 });
});

it.runIf(process.platform !== "win32")("is readable only by its owner, like its folder", async () => {
  const state = await StateFile.open(file, Count, zero);
  await state.change(more);
  await state.change(more);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
  expect(await readdir(path.dirname(file))).toEqual(["count.json"]);
});

it("loses no concurrent change", async () => {
  const state = await StateFile.open(file, Count, zero);
  await Promise.all(Array.from({ length: 20 }, () => state.change(more)));
  await state.settled();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ count: 20 });
});

it("keeps its state if a change throws, and accepts the next one", async () => {
  const state = await StateFile.open(file, Count, zero);
  const refused = state.change(() => {
    throw new Error("no");
  });
  const next = state.change(more);
  await expect(refused).rejects.toThrow("no");
  await next;
  expect(state.current).toEqual({ count: 1 });
});

it.each([
  ["invalid JSON", "{", "damaged"],
  ["another schema", '{"count":"1"}', "another version"],
  ["too much", `{"count":1,"x":"${"x".repeat(1024 * 1024)}"}`, "too large"],
])("that holds %s is not used and says why, until it is overwritten", async (_what, text, why) => {
  await mkdir(path.dirname(file));
  await writeFile(file, text);
  const state = await StateFile.open(file, Count, zero);
  expect(state.current).toEqual(zero);
  expect(state.problem).toContain(`The file ${file} cannot be used`);
  expect(state.problem).toContain(why);
  expect(await readFile(file, "utf8")).toBe(text);
  await state.change(more);
  expect(state.problem).toBeUndefined();
});

it("that cannot be written keeps its state, leaves no temporary file and is named in the error", async () => {
  await writeFile(path.dirname(file), "a file in the place of the folder");
  const state = await StateFile.open(file, Count, zero);
  expect([state.current, state.problem]).toEqual([zero, undefined]);
  await expect(state.change(more)).rejects.toMatchObject({
    code: "internal",
    message: expect.stringContaining(file),
  });
  expect(state.current).toEqual(zero);
  expect(await readdir(folder)).toEqual(["config"]);
});
