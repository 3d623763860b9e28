// Folders in MLX's format as models of the library: converted once per contents, found by name, and removed with their
// conversions.
import { utimesSync } from "node:fs";
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readGguf } from "@ingle/gguf";
import type { ConversionReport } from "@ingle/mlx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fetchModel } from "../fetch-model.ts";
import type { FetchOptions } from "../library-options.ts";
import { importModels } from "../import-model.ts";
import { listModels } from "../installed.ts";
import { locateModel } from "../locate.ts";
import { pruneLibrary, removeModel } from "../remove-model.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { fakeMlx } from "../../../test/harness/fake-mlx.ts";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { failure } from "../../../test/harness/failure.ts";

let user: string;
let folder: string;
let env: NodeJS.ProcessEnv;
const converted = async (): Promise<string[]> =>
  await readdir(path.join(user, "ingle/converted")).catch(() => []);

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-mlx-"));
  folder = path.join(user, "Tiny-4bit");
  env = { HOME: user, INGLE_HOME: path.join(user, "ingle") };
  await write(folder, fakeMlx());
});

afterEach(async () => {
  await rm(user, { recursive: true });
});

async function write(to: string, files: Record<string, Buffer>): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(path.join(to, name), bytes);
}

/** Opens a model as `--model` does, and counts its conversions. */
async function open(model: string, more: FetchOptions = {}): Promise<{ file: string; conversions: number }> {
  let conversions = 0;
  const onConverted = (): void => {
    conversions += 1;
  };
  const file = await fetchModel(await locateModel(model, { env, ...more }), { env, onConverted, ...more });
  return { file, conversions };
}

describe("a folder in MLX's format", () => {
  test("becomes a GGUF file, is listed, and reports how its weights were stored", async () => {
    const reports: ConversionReport[] = [];
    const phases = new Set<string>();
    const located = await locateModel(folder, { env });
    const file = await fetchModel(located, {
      env,
      onConverted: (report) => reports.push(report),
      onProgress: ({ phase }) => phases.add(phase),
    });
    const { metadata, tensors } = await readGguf(file);
    expect(metadata.get("general.architecture")).toMatchObject({ value: "llama" });
    expect(tensors.find(({ name }) => name === "token_embd.weight")).toMatchObject({
      typeCode: 3,
      shape: [64, 259],
    });
    expect(reports).toMatchObject([
      {
        steps: [
          { from: "affine 4-bit, groups of 64", to: "Q4_1", tensors: 8, error: { inSteps: 0, largest: 0 } },
          { from: "F16", to: "F32", tensors: 3 },
        ],
        unused: [],
        bytes: (await stat(file)).size,
      },
    ]);
    expect([...phases]).toEqual(["verify", "convert"]);
    expect(await listModels({ env })).toMatchObject([
      { id: "Tiny-4bit", path: file, format: "mlx", quantization: "Q4_1", place: "ingle" },
    ]);
  });

  test("is converted once, even if it is requested twice at the same time, moved or only touched", async () => {
    const [first, second] = await Promise.all([open(folder), open(folder)]);
    expect(first.conversions + second.conversions).toBe(1);
    expect(await open(folder)).toEqual({ file: first.file, conversions: 0 });
    await utimes(path.join(folder, "config.json"), 1, 1);
    expect(await open(folder)).toEqual({ file: first.file, conversions: 0 });
    await cp(folder, path.join(user, "moved/Other"), { recursive: true });
    expect(await open(path.join(user, "moved/Other"))).toEqual({ file: first.file, conversions: 0 });
  });

  test("is converted again with other weights, other settings, or if its file is missing", async () => {
    const { file } = await open(folder);
    await write(folder, fakeMlx({ seed: 2 }));
    const changed = await open(folder);
    expect(changed.conversions).toBe(1);
    expect(await readFile(changed.file)).not.toEqual(await readFile(file));
    await rm(changed.file);
    expect(await open(folder)).toEqual({ file: changed.file, conversions: 1 });
    expect((await open(folder, { exact: true })).conversions).toBe(1);
    expect((await open(folder)).conversions).toBe(0);
  });

  test("is converted again if its file was changed", async () => {
    const { file } = await open(folder);
    await appendFile(file, "x");
    expect((await open(folder)).conversions).toBe(1);
  });

  test.each<(stop: () => void) => FetchOptions>([
    (stop) => ({ onProgress: ({ phase }) => (phase === "convert" ? stop() : undefined) }),
    (stop) => ({ onConverted: stop }),
  ])("leaves nothing behind if it is aborted, and starts again the next time", async (when) => {
    const stop = new AbortController();
    const stopping = open(folder, { signal: stop.signal, ...when(() => stop.abort()) });
    await expect(stopping).rejects.toMatchObject({ name: "AbortError" });
    expect(await converted()).toEqual([]);
    expect((await open(folder)).conversions).toBe(1);
  });

  test("is refused before it is converted if it does not fit on the disk", async () => {
    const error = await failure(open(folder, { freeBytes: async () => 1000 }));
    expect(error.code).toBe("disk_full");
    expect(await converted()).toEqual([]);
  });

  test.each([
    ["model_unsupported", { "config.json": Buffer.from('{"model_type":"llama","model_file":"own.py"}') }],
    ["model_unsupported", fakeMlx({ modelType: "mamba" })],
    ["model_invalid", { "config.json": Buffer.from("{") }],
    ["model_invalid", { "model.safetensors": Buffer.alloc(40, 1) }],
  ])("is %s if it cannot be converted", async (code, files) => {
    await write(folder, files);
    for (const doing of [open, importModels]) expect((await failure(doing(folder, { env }))).code).toBe(code);
    expect(await converted()).toEqual([]);
    expect(await listModels({ env })).toEqual([]);
  });
});

describe("a folder in MLX's format that", () => {
  test("changes while it is converted is refused, and leaves nothing behind", async () => {
    const changing = open(folder, {
      onProgress: ({ phase }) => {
        if (phase === "convert") utimesSync(path.join(folder, "config.json"), 1, 1);
      },
    });
    expect(await failure(changing)).toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining("changed during the conversion"),
    });
    expect(await converted()).toEqual([]);
  });

  test.each([
    ["holds a folder where a file should be", "model.safetensors in .* is not a regular file", mkdir],
    [
      "lacks what a link points to",
      "cannot be read: ENOENT",
      async (at: string) => await symlink("gone", at),
    ],
  ])("%s is refused with the file", async (_what, message, make) => {
    const weights = path.join(folder, "model.safetensors");
    await rm(weights);
    await make(weights);
    const error = await failure(open(folder));
    expect(error.code).toBe("model_invalid");
    expect(error.message).toMatch(new RegExp(message));
    expect(error.message).toContain(folder);
  });

  test("has the name of another model gets a unique name", async () => {
    const file = path.join(user, "Tiny-4bit.gguf");
    await writeFile(file, fakeGguf());
    await importModels(file, { env, alias: "daily" });
    const first = await open(folder);
    const namesake = path.join(user, "elsewhere/Tiny-4bit");
    await write(namesake, fakeMlx({ seed: 2 }));
    const second = await open(namesake);
    expect(await listModels({ env })).toMatchObject([
      { id: "Tiny-4bit", path: file, aliases: ["daily"] },
      { id: expect.stringMatching(/^Tiny-4bit-[0-9a-f]{6}$/), path: first.file },
      { id: expect.stringMatching(/^Tiny-4bit-[0-9a-f]{6}$/), path: second.file },
    ]);
    for (const one of [folder, namesake]) expect((await open(one)).conversions).toBe(0);
  });

  test("is equal to another shares its file, which stays until both are removed", async () => {
    const { file } = await open(folder);
    const copy = path.join(user, "copies/Tiny-4bit");
    await cp(folder, copy, { recursive: true });
    expect(await open(copy)).toEqual({ file, conversions: 0 });
    expect(await listModels({ env })).toMatchObject([{ path: file }, { path: file }]);
    expect((await removeModel("Tiny-4bit", { env })).freedBytes).toBe(0);
    expect(await open(copy)).toEqual({ file, conversions: 0 });
  });

  test("was moved keeps its name", async () => {
    const { file } = await open(folder);
    const moved = path.join(user, "moved/Tiny-4bit");
    await mkdir(path.dirname(moved));
    await rename(folder, moved);
    expect(await importModels(moved, { env })).toMatchObject([{ id: "Tiny-4bit", path: file }]);
    expect(await listModels({ env })).toHaveLength(1);
  });

  test("is named by one of its files is named in the error", async () => {
    const weights = path.join(folder, "model.safetensors");
    for (const doing of [locateModel, importModels])
      expect((await failure(doing(weights, { env }))).message).toContain(`${folder}: give that folder.`);
  });
});

test("a folder that is written like a repository is mentioned if there is no such repository", async () => {
  await write(path.join(user, "acme/Tiny-4bit"), fakeMlx());
  const error = await failure(locateModel("acme/Tiny-4bit", { env, cwd: user, isOffline: true }));
  expect(error.message).toMatch(/stay offline\..* write \.\/acme\/Tiny-4bit for that\./);
});

describe("an import of such a folder", () => {
  test("gives it an alias, and removing deletes the conversion, not the folder", async () => {
    const [model] = await importModels(folder, { env, alias: "daily" });
    expect(model).toMatchObject({ id: "Tiny-4bit", format: "mlx", aliases: ["daily"] });
    expect(await open("daily")).toEqual({ file: model?.path, conversions: 0 });
    await removeModel("daily", { env });
    expect(await converted()).toEqual([]);
    expect((await readdir(folder)).length).toBe(5);
  });

  test("is refused if another model has the name", async () => {
    await importModels(folder, { env });
    await write(path.join(user, "elsewhere/Tiny-4bit"), fakeMlx({ seed: 2 }));
    const again = importModels(path.join(user, "elsewhere/Tiny-4bit"), { env });
    expect((await failure(again)).code).toBe("invalid_request");
  });
});

test("pruning removes conversions that no model uses any more, and unfinished ones", async () => {
  const { file } = await open(folder);
  const old = path.join(path.dirname(file), "old-0123456789ab.gguf");
  await writeFile(old, "12345");
  await writeFile(`${old}.some.part`, "123");
  expect(await pruneLibrary({ env, dryRun: true })).toHaveLength(2);
  expect(await pruneLibrary({ env })).toEqual([
    { what: old, reason: "unused", freedBytes: 5 },
    { what: `${old}.some.part`, reason: "unfinished", freedBytes: 3 },
  ]);
  expect(await converted()).toEqual([path.basename(file)]);
});

describe("a repository of the hub in MLX's format", () => {
  const repo = "acme/Tiny-4bit";
  let hub: FakeHub;

  beforeEach(async () => {
    hub = await FakeHub.start({ repo, files: fakeMlx(), tags: ["mlx", "license:mit"] });
    env = { ...env, HF_ENDPOINT: hub.url };
  });

  afterEach(async () => {
    await hub[Symbol.asyncDispose]();
  });

  test("is downloaded and converted once, and the download is deleted", async () => {
    const { file, conversions } = await open(repo);
    expect(conversions).toBe(1);
    expect(await listModels({ env })).toMatchObject([{ id: `${repo}:MLX`, path: file, format: "mlx" }]);
    expect(await readdir(path.join(user, "ingle/downloads/mlx"))).toEqual([]);
    const asked = hub.requests.length;
    expect(await open(repo)).toEqual({ file, conversions: 0 });
    expect(await open(`${repo}:mlx`)).toEqual({ file, conversions: 0 });
    expect(hub.requests).toHaveLength(asked);
    // The same bytes from another place are the same model.
    expect(await open(folder)).toEqual({ file, conversions: 0 });
  });

  test("is downloaded and converted once if it is requested twice at the same time", async () => {
    const [first, second] = await Promise.all([open(repo), open(repo)]);
    expect(second.file).toBe(first.file);
    expect(first.conversions + second.conversions).toBe(1);
    expect(await readdir(path.join(user, "ingle/downloads/mlx"))).toEqual([]);
  });

  test("downloads only the required files", async () => {
    await open(repo);
    const names = hub.byteRequests.map(({ url = "" }) => path.posix.basename(new URL(url, hub.url).pathname));
    expect(new Set(names)).toEqual(
      new Set(["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]),
    );
  });

  test("is refused if its small files have other bytes, and nothing is converted", async () => {
    hub.isLying = true;
    expect((await failure(open(repo))).code).toBe("integrity_failed");
    expect(await converted()).toEqual([]);
  });

  test("continues after a break; pruning removes its leftovers", async () => {
    const stop = new AbortController();
    const stopping = open(repo, {
      signal: stop.signal,
      onProgress: ({ phase }) => {
        if (phase === "convert") stop.abort();
      },
    });
    await expect(stopping).rejects.toMatchObject({ name: "AbortError" });
    const fetched = hub.byteRequests.length;
    expect((await open(repo)).conversions).toBe(1);
    expect(hub.byteRequests).toHaveLength(fetched);
    await write(path.join(user, "ingle/downloads/mlx/acme+Old+0123"), { "config.json": Buffer.from("{}") });
    expect(await pruneLibrary({ env })).toMatchObject([{ reason: "unfinished" }]);
  });

  test("is refused before its weights are downloaded if it cannot be converted", async () => {
    hub.add({ repo: "acme/Mamba-4bit", files: fakeMlx({ modelType: "mamba" }), tags: ["mlx"] });
    expect((await failure(open("acme/Mamba-4bit"))).code).toBe("model_unsupported");
    expect(hub.byteRequests.filter(({ url = "" }) => url.includes("safetensors"))).toEqual([]);
  });

  test("has no quantizations to choose from", async () => {
    const error = await failure(locateModel(`${repo}:Q4_K_M`, { env }));
    expect(error.code).toBe("model_not_found");
    expect(error.message).toContain("MLX");
  });

  test("without the tag mlx counts as original weights", async () => {
    hub.add({ repo: "acme/original", files: fakeMlx(), tags: ["transformers"] });
    expect((await failure(locateModel("acme/original", { env }))).code).toBe("model_not_found");
  });
});
