// The installed models, wherever they are, and how names find them.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addAlias, removeAlias } from "./aliases.ts";
import { importModels } from "./import-model.ts";
import { listModels, recordUse } from "./installed.ts";
import { locateModel } from "./locate.ts";
import { readManifest, updateManifest } from "./manifest.ts";
import { libraryPaths } from "../base/home.ts";
import { pruneLibrary, removeModel } from "./remove-model.ts";
import { starterModel } from "./npm-model.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { failure } from "../../test/harness/failure.ts";

const gguf = fakeGguf();
let user: string;
let home: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-installed-"));
  home = path.join(user, "ingle");
  env = { HOME: user, INGLE_HOME: home, INGLE_OFFLINE: "1" };
});

afterEach(async () => {
  await rm(user, { recursive: true });
});

async function place(...parts: string[]): Promise<string> {
  const file = path.join(user, ...parts);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, gguf);
  return file;
}

const ids = async (): Promise<string[]> => (await listModels({ env })).map(({ id }) => id);

describe("models of other programs", () => {
  test("are found in the Hugging Face cache at its main commit", async () => {
    const commit = "a".repeat(40);
    const blob = await place(".cache/huggingface/hub/models--acme--tiny-GGUF/blobs/abc");
    const snapshots = path.join(user, ".cache/huggingface/hub/models--acme--tiny-GGUF/snapshots");
    await mkdir(path.join(snapshots, commit), { recursive: true });
    await symlink(blob, path.join(snapshots, commit, "tiny-Q4_K_M.gguf"));
    await place(".cache/huggingface/hub/models--acme--tiny-GGUF/snapshots", "b".repeat(40), "old-Q8_0.gguf");
    await mkdir(path.join(user, ".cache/huggingface/hub/models--acme--tiny-GGUF/refs"));
    await writeFile(path.join(user, ".cache/huggingface/hub/models--acme--tiny-GGUF/refs/main"), commit);
    const [model, ...others] = await listModels({ env });
    expect(others).toEqual([]);
    expect(model).toMatchObject({
      id: "acme/tiny-GGUF:Q4_K_M",
      place: "huggingface",
      sizeBytes: gguf.length,
    });
    const located = await locateModel("acme/tiny-GGUF", { env });
    expect(located).toMatchObject({ kind: "file", path: path.join(snapshots, commit, "tiny-Q4_K_M.gguf") });
  });

  test("are found in LM Studio's and llama.cpp's folders", async () => {
    await place(".lmstudio/models/acme/vision-GGUF/vision-Q8_0.gguf");
    await place(".lmstudio/models/acme/vision-GGUF/mmproj-vision-F16.gguf");
    await place(".cache/llama.cpp/acme_other-GGUF_other-Q4_0.gguf");
    const models = await listModels({ env: { ...env, LLAMA_CACHE: path.join(user, ".cache/llama.cpp") } });
    expect(models.map(({ id, place: where }) => [id, where])).toEqual([
      ["acme/vision-GGUF:Q8_0", "lm-studio"],
      ["acme_other-GGUF_other-Q4_0", "llama.cpp"],
    ]);
    expect(models[0]?.mmproj).toContain("mmproj-vision-F16.gguf");
  });

  test("cannot be removed", async () => {
    const file = await place(".lmstudio/models/acme/m-GGUF/m-Q8_0.gguf");
    const error = await failure(removeModel("acme/m-GGUF:Q8_0", { env }));
    expect(error.code).toBe("invalid_request");
    expect(error.message).toContain("LM Studio");
    expect(await readFile(file)).toEqual(gguf);
  });

  test("are hidden by Ingle's model of the same id", async () => {
    await place(".lmstudio/models/acme/m-GGUF/m-Q8_0.gguf");
    await place("ingle/models/acme/m-GGUF/m-Q8_0.gguf");
    expect((await listModels({ env })).map(({ place: where }) => where)).toEqual(["ingle"]);
  });
});

describe("Ingle's folder", () => {
  test("is read without a manifest", async () => {
    await place("ingle/models/acme/m-GGUF/m-Q8_0.gguf");
    await place("ingle/models/loose.gguf");
    expect(await ids()).toEqual(["loose", "acme/m-GGUF:Q8_0"]);
  });

  test("contains the starter model under its own id, if it is complete", async () => {
    const file = await place("ingle/models", starterModel.fileName);
    expect(await ids()).toEqual([]);
    await truncate(file, starterModel.sizeBytes); // a sparse file of the right size
    expect(await ids()).toEqual([starterModel.id]);
    expect(await locateModel(starterModel.id, { env })).toMatchObject({ kind: "file", path: file });
  });
});

describe("a path", () => {
  test("of a file is that file, under its name without .gguf", async () => {
    const file = await place("Some Model.Q4_K_M.gguf");
    const expected = { kind: "file", id: "Some Model.Q4_K_M", path: file, isListed: false };
    expect(await locateModel(file, { env })).toEqual(expected);
    expect(await locateModel("./Some Model.Q4_K_M.gguf", { env, cwd: user })).toEqual(expected);
  });

  test("of any part of a split model is the first part, and all must exist", async () => {
    const first = await place("m-00001-of-00002.gguf");
    const second = path.join(user, "m-00002-of-00002.gguf");
    const error = await failure(locateModel(first, { env }));
    expect(error.message).toContain(`${second} is missing`);
    await writeFile(second, gguf);
    expect(await locateModel(second, { env })).toMatchObject({ id: "m", path: first });
  });

  test("of a folder with one model is that model; with several it is refused", async () => {
    const file = await place("folder/a-Q4_K_M.gguf");
    expect(await locateModel(path.join(user, "folder"), { env })).toMatchObject({
      id: "a-Q4_K_M",
      path: file,
    });
    await place("folder/b-Q4_K_M.gguf");
    expect((await failure(locateModel(path.join(user, "folder"), { env }))).message).toContain(
      "a-Q4_K_M.gguf, b-Q4_K_M.gguf",
    );
  });

  test("of a folder in MLX's format is the folder, under its name", async () => {
    await place("mlx/config.json");
    await place("mlx/model.safetensors");
    const folder = path.join(user, "mlx");
    expect(await locateModel(folder, { env })).toEqual({ kind: "mlx", id: "mlx", folder });
  });

  test.each(["missing.gguf", "notes.txt", ".gguf", "empty"])(
    "of nothing that is a model is refused: %s",
    async (name) => {
      await writeFile(path.join(user, "notes.txt"), "");
      await writeFile(path.join(user, ".gguf"), "");
      await mkdir(path.join(user, "empty"));
      expect((await failure(locateModel(`./${name}`, { env, cwd: user }))).code).toBe("model_not_found");
    },
  );
});

describe("an import", () => {
  test("registers a file in place, and removing only unregisters it", async () => {
    const file = await place("elsewhere/mine-Q4_K_M.gguf");
    const [model] = await importModels(file, { env });
    expect(model).toMatchObject({ id: "mine-Q4_K_M", path: file, place: "import", quantization: "Q4_K_M" });
    await addAlias("daily", "mine-Q4_K_M", { env });
    expect(await locateModel("daily", { env })).toMatchObject({ id: "mine-Q4_K_M", path: file });
    expect(await removeModel("daily", { env })).toEqual({
      what: "mine-Q4_K_M",
      reason: "asked",
      freedBytes: 0,
    });
    expect(await readFile(file)).toEqual(gguf);
    expect(await ids()).toEqual([]);
    expect((await readManifest(libraryPaths(env))).aliases).toEqual({});
  });

  test("keeps its alias until the alias is moved or removed", async () => {
    for (const name of ["one", "two"])
      await importModels(await place(`elsewhere/${name}-Q8_0.gguf`), { env });
    const named = async () => Object.fromEntries((await listModels({ env })).map((m) => [m.id, m.aliases]));
    expect(await addAlias("daily", "one-Q8_0", { env })).toBe("one-Q8_0");
    expect(await addAlias("usual", "daily", { env })).toBe("one-Q8_0");
    expect(await addAlias("daily", "two-Q8_0", { env })).toBe("two-Q8_0");
    expect(await named()).toEqual({ "one-Q8_0": ["usual"], "two-Q8_0": ["daily"] });
    expect(await removeAlias("daily", { env })).toBe("two-Q8_0");
    expect(await named()).toEqual({ "one-Q8_0": ["usual"], "two-Q8_0": [] });
    for (const gone of ["daily", "one-Q8_0", "constructor"])
      expect(await failure(removeAlias(gone, { env }))).toMatchObject({ code: "model_not_found" });
    expect(await failure(addAlias("new", "nobody", { env }))).toMatchObject({ code: "model_not_found" });
    for (const bad of ["two-Q8_0", "a/b", "x.gguf", ""])
      expect(await failure(addAlias(bad, "one-Q8_0", { env }))).toMatchObject({ code: "invalid_request" });
  });

  test("with copy copies the model and its projector, and removing frees the disk", async () => {
    await place("elsewhere/v-Q8_0.gguf");
    await place("elsewhere/mmproj-v-F16.gguf");
    const [model] = await importModels("elsewhere", { env, cwd: user, copy: true });
    expect(model?.files).toEqual(
      ["v-Q8_0.gguf", "mmproj-v-F16.gguf"].map((name) => path.join(home, "models/imported/v-Q8_0", name)),
    );
    await rm(path.join(user, "elsewhere"), { recursive: true });
    expect(await ids()).toEqual(["v-Q8_0"]);
    expect((await removeModel("v-Q8_0", { env })).freedBytes).toBe(2 * gguf.length);
    expect(await readdir(path.join(home, "models"))).toEqual([]);
  });

  test("of a folder registers every model in it", async () => {
    await place("many/a-Q4_K_M.gguf");
    await place("many/deep/b-Q8_0.gguf");
    expect((await importModels(path.join(user, "many"), { env })).map(({ id }) => id)).toEqual([
      "a-Q4_K_M",
      "b-Q8_0",
    ]);
  });

  test("of several models with an alias is refused, and registers none", async () => {
    await place("many/a-Q4_K_M.gguf");
    await place("many/b-Q8_0.gguf");
    const error = await failure(importModels(path.join(user, "many"), { env, alias: "mine" }));
    expect(error.code).toBe("invalid_request");
    expect(await ids()).toEqual([]);
    await importModels(path.join(user, "many/a-Q4_K_M.gguf"), { env, alias: "mine" });
    expect((await listModels({ env }))[0]?.aliases).toEqual(["mine"]);
  });

  test("takes the quantization from the header if the name has none", async () => {
    expect((await importModels(await place("plain.gguf"), { env }))[0]?.quantization).toBe("Q4_K_M");
  });

  test.each([
    ["cut", gguf.subarray(0, -1)],
    ["no GGUF", Buffer.from("GGUX and more")],
    ["empty", Buffer.alloc(0)],
  ])("refuses a file that is %s, and registers nothing", async (_, bytes) => {
    const file = await place("broken.gguf");
    await writeFile(file, bytes);
    expect((await failure(importModels(file, { env }))).code).toBe("model_invalid");
    expect(await ids()).toEqual([]);
  });

  test("refuses the name of another model", async () => {
    await importModels(await place("one/same.gguf"), { env });
    const error = await failure(importModels(await place("two/same.gguf"), { env }));
    expect(error.message).toContain("ingle remove same");
    await importModels(path.join(user, "one/same.gguf"), { env });
  });

  test("refuses to copy onto a full disk", async () => {
    const file = await place("big.gguf");
    const error = await failure(importModels(file, { env, copy: true, freeBytes: async () => 10 }));
    expect(error.code).toBe("disk_full");
    expect(await ids()).toEqual([]);
  });
});

describe("the manifest", () => {
  test("records the last use", async () => {
    await importModels(await place("m.gguf"), { env });
    expect((await listModels({ env }))[0]?.lastUsedAt).toBeNull();
    expect(await recordUse("m", { env })).toBe(true);
    expect(Date.now() - ((await listModels({ env }))[0]?.lastUsedAt?.getTime() ?? 0)).toBeLessThan(60_000);
  });

  test("that is not writable does not prevent using a model", async () => {
    const file = await place("a-file");
    expect(await recordUse("m", { env: { ...env, INGLE_HOME: path.join(file, "below") } })).toBe(false);
    expect(await listModels({ env: { ...env, INGLE_HOME: path.join(file, "below") } })).toEqual([]);
  });

  test("keeps all of many concurrent changes", async () => {
    const folders = libraryPaths(env);
    const changes = Array.from({ length: 12 }, (_, index) =>
      updateManifest(folders, (manifest) => ({
        ...manifest,
        aliases: { ...manifest.aliases, [`a${index}`]: "x" },
      })),
    );
    await Promise.all(changes);
    expect(Object.keys((await readManifest(folders)).aliases).length).toBe(12);
    expect((await readdir(home)).toSorted()).toEqual(["library.json"]);
  });

  test.each(["", "{", "[]", '{"version": 2, "models": []}'])(
    "that is damaged is an error that names it: %j",
    async (text) => {
      await mkdir(home);
      await writeFile(path.join(home, "library.json"), text);
      const error = await failure(listModels({ env }));
      expect(error.code).toBe("library_invalid");
      expect(error.message).toContain(path.join(home, "library.json"));
    },
  );

  test("does not list a model whose file is missing or has changed", async () => {
    const file = await place("m.gguf");
    await importModels(file, { env });
    await writeFile(file, "other");
    expect(await ids()).toEqual([]);
  });
});

describe("pruning", () => {
  test("removes unfinished downloads and entries of missing models, and only reports them in a dry run", async () => {
    const part = await place("ingle/downloads/abc.part");
    await place("ingle/downloads/abc.part.log");
    const file = await place("m.gguf");
    await importModels(file, { env });
    await rm(file);
    const found = await pruneLibrary({ env, dryRun: true });
    expect(found.map(({ what, reason }) => [path.basename(what), reason])).toEqual([
      ["abc.part", "unfinished"],
      ["abc.part.log", "unfinished"],
      ["m", "gone"],
    ]);
    expect(await readFile(part)).toEqual(gguf);
    expect(await pruneLibrary({ env })).toEqual(found);
    expect(await readdir(path.join(home, "downloads"))).toEqual([]);
    expect(await pruneLibrary({ env })).toEqual([]);
  });

  test("keeps unfinished downloads while one is running", async () => {
    await place("ingle/downloads/abc.part");
    await mkdir(path.join(home, "downloads/abc.lock"));
    expect(await pruneLibrary({ env })).toEqual([]);
  });

  test("removes Ingle's models that were not used for a while, and no others", async () => {
    await place("ingle/models/acme/m-GGUF/m-Q8_0.gguf");
    await place("ingle/models/acme/n-GGUF/n-Q8_0.gguf");
    await importModels(await place("mine.gguf"), { env });
    const day = 24 * 60 * 60 * 1000;
    const now = (): Date => new Date(Date.now() + 40 * day);
    expect(await pruneLibrary({ env, unusedForMs: 41 * day, now })).toEqual([]);
    await updateManifest(libraryPaths(env), (manifest) => ({
      ...manifest,
      lastUsed: { "acme/n-GGUF:Q8_0": new Date(Date.now() + 39 * day).toISOString() },
    }));
    const removed = await pruneLibrary({ env, unusedForMs: 30 * day, now });
    expect(removed).toEqual([{ what: "acme/m-GGUF:Q8_0", reason: "unused", freedBytes: gguf.length }]);
    expect((await ids()).toSorted()).toEqual(["acme/n-GGUF:Q8_0", "mine"]);
  });
});

test("an unknown name is an error that says what a model may be", async () => {
  const error = await failure(locateModel("someone", { env }));
  expect(error.code).toBe("model_not_found");
  expect(error.message).toContain(`There is no model called "someone" here.`);
  expect(error.message).toContain("org/repo:QUANT");
});
