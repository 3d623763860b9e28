import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ModelSettingsStore } from "./model-settings-store.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-model-settings-"));
  file = path.join(folder, "models.jsonc");
});
afterEach(() => rm(folder, { recursive: true }));

async function stored(text: string): Promise<ModelSettingsStore> {
  await writeFile(file, text);
  return await ModelSettingsStore.read(folder);
}

describe("the settings of a model", () => {
  it("are those of every name and pattern that it has, the longer ones before the shorter ones", async () => {
    const store = await stored(`{
      // for all
      "models": {
        "lfm2-1b": { "context_length": 32768, "profiles": { "coding": { "sampling": { "temperature": 0.1 } } } },
        "*": { "kv_bits": 8, "sampling": { "temperature": 0.7, "top_k": 20 }, "system_prompt": "Be brief." },
        "lfm2*": { "sampling": { "temperature": 0.3 }, "profiles": { "coding": { "system_prompt": "Code." } } },
        "small": { "kv_bits": 4, },
      },
    }`);
    expect(store.settingsFor(["lfm2-1b", "small"])).toMatchObject({
      context_length: 32_768,
      kv_bits: 4,
      sampling: { temperature: 0.3, top_k: 20 },
      system_prompt: "Be brief.",
      profiles: { coding: { system_prompt: "Code.", sampling: { temperature: 0.1 } } },
    });
    expect(store.settingsFor(["other"])).toMatchObject({ kv_bits: 8, sampling: { temperature: 0.7 } });
    expect(store.own("other")).toEqual({});
  });

  it("are none without a file", async () => {
    expect((await ModelSettingsStore.read(folder)).settingsFor(["a"])).toEqual({});
  });
});

it.each([
  ["{", "line 1: this is no JSON"],
  ['{\n  "models": {\n    "a": nothing\n  }\n}', "line 3: this is no JSON"],
  ['{ "models": { "a": { "context": 5 } } }', 'wrong at models.a: Unrecognized key: "context"'],
  ['{ "models": { "a": { "kv_bits": 5 } } }', "wrong at models.a.kv_bits: kv_bits must be 16, 8, 4 or 3"],
  [
    '{ "models": { "a": { "sampling": { "temp": 1 } } } }',
    "wrong at models.a.sampling: sampling has no field temp",
  ],
  ['{ "models": { "a": { "profiles": { "b": { "kv_bits": 8 } } } } }', "wrong at models.a.profiles.b"],
  ['{ "models": { "a": { "profiles": { "b:c": {} } } } }', "wrong at models.a.profiles.b:c"],
  ['{ "model": {} }', "wrong"],
])("refuses %s, and says where it is wrong", async (text, message) => {
  await expect(stored(text)).rejects.toThrow(message);
});

describe("a change", () => {
  it("keeps comments and everything else, follows a link, and is seen at once", async () => {
    await writeFile(
      path.join(folder, "kept.jsonc"),
      '{\n  // mine\n  "models": { "b": { "kv_bits": 8 } }\n}\n',
    );
    await symlink(path.join(folder, "kept.jsonc"), file);
    const store = await ModelSettingsStore.read(folder);
    const heard = vi.fn();
    store.onChange(heard);
    await store.set("a", ["sampling", "temperature"], 0.3);
    expect(heard).toHaveBeenCalledOnce();
    expect(store.settingsFor(["a"])).toMatchObject({ sampling: { temperature: 0.3 } });
    const text = await readFile(path.join(folder, "kept.jsonc"), "utf8");
    expect(text).toContain("// mine");
    await store.set("a", [], undefined);
    expect((await ModelSettingsStore.read(folder)).content).toEqual({ models: { b: { kv_bits: 8 } } });
  });

  it("that is wrong changes nothing, nor does any of a file that is wrong elsewhere", async () => {
    const store = await stored('{ "models": {} }');
    await expect(store.set("a", ["kv_bits"], 7)).rejects.toThrow("kv_bits must be");
    expect(await readFile(file, "utf8")).toBe('{ "models": {} }');
    await writeFile(file, '{ "models": { "b": 1 } }');
    await expect(store.set("a", ["kv_bits"], 8)).rejects.toThrow("wrong at models.b");
    expect(await readFile(file, "utf8")).toBe('{ "models": { "b": 1 } }');
  });

  it("of several processes keeps every one's", async () => {
    const stores = await Promise.all(["a", "b", "c", "d"].map(() => ModelSettingsStore.read(folder)));
    await Promise.all(stores.map((store, index) => store.set(`model${index}`, ["kv_bits"], 8)));
    expect(Object.keys((await ModelSettingsStore.read(folder)).content.models)).toHaveLength(4);
  });

  it("by hand is followed; what is wrong is reported, and the settings before it stay", async () => {
    await writeFile(file, '{ "models": { "a": { "kv_bits": 8 } } }');
    const closing = new AbortController();
    const onFailure = vi.fn();
    const news = { lookEveryMs: 10, onFailure, signal: closing.signal };
    const store = await ModelSettingsStore.follow(folder, { ...news, isLenient: false });
    await writeFile(file, "{ wrong");
    await vi.waitFor(() => expect(onFailure).toHaveBeenCalled());
    expect(store.settingsFor(["a"])).toMatchObject({ kv_bits: 8 });
    await writeFile(file, '{ "models": { "a": { "kv_bits": 4 } } }');
    await vi.waitFor(() => expect(store.settingsFor(["a"])).toMatchObject({ kv_bits: 4 }));
    await rm(file);
    await vi.waitFor(() => expect(store.settingsFor(["a"])).toEqual({}));
    closing.abort();
  });

  it("is needed before a server starts with a file that is wrong, but not before the app", async () => {
    await writeFile(file, "{ wrong");
    const onFailure = vi.fn();
    const news = { onFailure, signal: new AbortController().signal };
    await expect(ModelSettingsStore.follow(folder, { ...news, isLenient: false })).rejects.toThrow("line 1");
    const store = await ModelSettingsStore.follow(folder, { ...news, isLenient: true });
    expect(store.content).toEqual({ models: {} });
    expect(onFailure).toHaveBeenCalledOnce();
  });
});
