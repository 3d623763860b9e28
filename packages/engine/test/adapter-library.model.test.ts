// Adapters in the library: pulled from a hub on this machine beside a real tiny model, listed, refused, removed and pruned.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  fetchModel,
  listModels,
  load,
  locateModel,
  pruneLibrary,
  removeModel,
  type InstalledAdapter,
} from "@ingle/engine";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import {
  makeAdapterFolder,
  tinyAdapter,
  tinyControlVector,
  tinyModel,
  type AdapterFolderOptions,
} from "@ingle/fixtures";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let home: string;
let hub: FakeHub;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-adapter-library-"));
  hub = await FakeHub.start();
  env = { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url };
  await installBase("acme/Tiny-Chat-GGUF", "Tiny-Chat-F32.gguf");
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const base = "acme/Tiny-Chat-GGUF:F32";

async function installBase(repo: string, name: string): Promise<void> {
  const folder = path.join(home, "models", repo);
  await mkdir(folder, { recursive: true });
  await copyFile(await tinyModel(), path.join(folder, name));
}

/** A repository with an adapter's folder. */
async function addFolder(repo: string, options: Partial<AdapterFolderOptions> = {}): Promise<void> {
  const folder = path.join(home, "made", repo);
  await makeAdapterFolder(folder, {
    model: {},
    kind: "peft",
    config: { base_model_name_or_path: "acme/Tiny-Chat" },
    ...options,
  });
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(path.join(folder, name))] as const),
  );
  hub.add({ repo, files: Object.fromEntries(files), tags: ["base_model:adapter:acme/Tiny-Chat"] });
}

async function pull(repo: string, adapter: { base?: string; name?: string } = {}): Promise<string> {
  return await fetchModel(await locateModel(repo, { env }), { env, adapter });
}

async function installed(): Promise<InstalledAdapter[]> {
  return (await listModels({ env })).flatMap(({ adapters }) => adapters);
}

describe("pulling an adapter", () => {
  it.each([
    ["PEFT", { kind: "peft" }],
    ["mlx-lm", { kind: "mlx", config: { model: "/home/somebody/mlx-community/Tiny-Chat-4bit" } }],
  ] as const)("in the format of %s installs it beside the model that it names", async (_, options) => {
    await addFolder("acme/law", options);
    const file = await pull("acme/law");
    expect(file).toBe(path.join(home, "adapters/acme/law"));
    expect(await installed()).toMatchObject([
      { id: `${base}:law`, name: "law", repo: "acme/law", path: file },
    ]);
    const model = (await listModels({ env })).find(({ id }) => id === base)?.path ?? "";
    await using loaded = await load(model, { contextLength: 64, adapters: [{ name: "law", path: file }] });
    expect(loaded.model.info.adapters).toEqual(["law"]);
  });

  it("in GGUF needs the model's name if the file has none", async () => {
    const bytes = await readFile(await tinyAdapter({ model: {} }));
    hub.add({ repo: "acme/law-LoRA-GGUF", files: { "law-f32.gguf": bytes } });
    await expect(pull("acme/law-LoRA-GGUF")).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("--base"),
    });
    const file = await pull("acme/law-LoRA-GGUF", { base, name: "law" });
    expect(file).toBe(path.join(home, "adapters/acme/law-LoRA-GGUF/law-f32.gguf"));
    expect(await installed()).toMatchObject([{ id: `${base}:law` }]);
  });

  it("that is a control vector needs the model's name too", async () => {
    const bytes = await readFile(await tinyControlVector({ model: {} }));
    hub.add({ repo: "acme/calm-control-vector", files: { "calm.gguf": bytes } });
    await expect(pull("acme/calm-control-vector")).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("--base"),
    });
    await pull("acme/calm-control-vector", { base, name: "calm" });
    expect(await installed()).toMatchObject([{ id: `${base}:calm` }]);
  });

  it("again downloads nothing, and can rename it", async () => {
    await addFolder("acme/law");
    await pull("acme/law");
    hub.requests.length = 0;
    await pull("acme/law");
    expect(await installed()).toMatchObject([{ name: "law" }]);
    await pull("acme/law", { name: "justice" });
    expect(await installed()).toMatchObject([{ name: "justice" }]);
    expect(hub.requests).toEqual([]);
  });

  it("is refused before its weights are downloaded if its model is not installed", async () => {
    await addFolder("acme/law", { config: { base_model_name_or_path: "acme/Large" } });
    await expect(pull("acme/law")).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("acme/Large, which is not installed"),
    });
    const files = hub.byteRequests.map(({ url }) => url?.replace(/\?.*/, ""));
    expect(files).toEqual(["/acme/law/adapter_config.json"]);
    expect(await readdir(path.join(home, "adapters/acme"))).toEqual([]);
  });

  it("asks which model is meant if several builds of it are installed", async () => {
    await installBase("other/Tiny_Chat-MLX-GGUF", "x-Q8_0.gguf");
    await addFolder("acme/law");
    await expect(pull("acme/law")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("other/Tiny_Chat-MLX-GGUF:Q8_0"),
    });
    await pull("acme/law", { base });
    expect(await installed()).toMatchObject([{ id: `${base}:law` }]);
  });

  it("refuses a name that another adapter of the model has", async () => {
    await addFolder("acme/law");
    await addFolder("other/law", { seed: 2 });
    await pull("acme/law");
    await expect(pull("other/law")).rejects.toMatchObject({ details: { param: "alias" } });
    await pull("other/law", { name: "other" });
    expect((await installed()).map(({ name }) => name)).toEqual(["law", "other"]);
    await expect(pull("acme/law", { name: "a:b" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("deletes one that does not fit", async () => {
    await addFolder("acme/wide", { model: { architecture: "llama", embedding: 128 } });
    await expect(pull("acme/wide")).rejects.toMatchObject({ code: "adapter_mismatch" });
    expect(await installed()).toEqual([]);
    expect(await readdir(path.join(home, "adapters/acme"))).toEqual([]);
  });

  it("is refused where a model is needed, and in formats that run code", async () => {
    await addFolder("acme/law");
    const located = await locateModel("acme/law", { env });
    await expect(fetchModel(located, { env })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("adapter, not a model"),
    });
    const pickled = { "adapter_config.json": Buffer.from("{}"), "adapter_model.bin": Buffer.from("x") };
    hub.add({ repo: "acme/pickled", files: pickled });
    await expect(pull("acme/pickled")).rejects.toMatchObject({ code: "model_unsupported" });
  });
});

describe("an installed adapter", () => {
  beforeEach(async () => {
    await addFolder("acme/law");
    await pull("acme/law");
  });

  it.each([`${base}:law`, "acme/law"])("is removed as %s, with its files", async (name) => {
    const removal = await removeModel(name, { env });
    expect(removal).toMatchObject({ what: `${base}:law`, reason: "asked" });
    expect(removal.freedBytes).toBeGreaterThan(1000);
    expect(await installed()).toEqual([]);
    expect(await readdir(path.join(home, "adapters"))).toEqual([]);
    expect((await listModels({ env })).map(({ id }) => id)).toEqual([base]);
  });

  it("is not listed without its files or its model, and then pruned", async () => {
    expect((await pruneLibrary({ env })).filter(({ what }) => what === "acme/law")).toEqual([]);
    await removeModel(base, { env });
    expect(await listModels({ env })).toEqual([]);
    expect(await pruneLibrary({ env })).toMatchObject([{ what: "acme/law", reason: "orphaned" }]);
    expect(await readdir(path.join(home, "adapters"))).toEqual([]);
    expect(await pruneLibrary({ env })).toEqual([]);
  });
});
