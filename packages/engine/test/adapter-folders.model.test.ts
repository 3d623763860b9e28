// Adapters in folders of PEFT and mlx-lm: converted for their model, they give what the model with merged weights gives.
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load, type GenerationResult, type LoadOptions } from "@ingle/engine";
import {
  exactArithmetic,
  makeAdapterFolder,
  mergedTinyModel,
  tinyModel,
  type AdapterFolderOptions,
  type TinyModelOptions,
} from "@ingle/fixtures";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { prompts } from "./tiny.ts";

const options: LoadOptions = { threads: 1, contextLength: 512, parallel: 4, ...exactArithmetic };
const [prompt = ""] = prompts(1);

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-adapter-folders-"));
  vi.stubEnv("INGLE_HOME", home);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

async function ask(modelFile: string, adapter?: string): Promise<GenerationResult> {
  const adapters = adapter === undefined ? [] : [{ name: "own", path: adapter }];
  await using loaded = await load(modelFile, { ...options, adapters });
  const request = { prompt, temperature: 0, maxTokens: 24, logprobs: 3 };
  return await loaded.model.generate({ ...request, adapters: adapters.map(({ name }) => ({ id: name })) });
}

async function makeFolder(folderOptions: AdapterFolderOptions): Promise<string> {
  const folder = path.join(home, "law");
  await makeAdapterFolder(folder, folderOptions);
  return folder;
}

const kinds: TinyModelOptions[] = [
  {},
  { architecture: "lfm2" },
  { architecture: "gemma3" },
  { architecture: "qwen3" },
  { architecture: "phi3" },
];

describe.each(kinds)("an adapter of a tiny model, %o", (model) => {
  it.each([
    ["PEFT", { kind: "peft" }],
    ["PEFT with rsLoRA", { kind: "peft", isRankStabilized: true }],
    ["mlx-lm", { kind: "mlx" }],
  ] as const)("in the format of %s gives the text of the model with merged weights", async (_, format) => {
    const adapted = await ask(await tinyModel(model), await makeFolder({ model, rank: 6, ...format }));
    const merged = await ask(await mergedTinyModel({ model, rank: 6 }));
    expect(adapted.text).toBe(merged.text);
    const logprobs = (result: GenerationResult): number[] =>
      (result.logprobs ?? []).map(({ logprob }) => logprob);
    expect(logprobs(adapted).length).toBe(24);
    for (const [at, logprob] of logprobs(adapted).entries())
      expect(logprob).toBeCloseTo(logprobs(merged)[at] ?? NaN, 3);
    expect(adapted.text).not.toBe((await ask(await tinyModel(model))).text);
  });
});

describe("a folder", () => {
  const convertedFiles = async (): Promise<string[]> => await readdir(path.join(home, "converted"));

  it("is converted once, and again when it changed", async () => {
    const model = await tinyModel();
    const folder = await makeFolder({ model: {}, kind: "peft" });
    const { text } = await ask(model, folder);
    const [first] = await convertedFiles();
    expect(first).toMatch(/^law-[\da-f]{12}\.gguf$/);
    expect((await ask(model, folder)).text).toBe(text);
    expect(await convertedFiles()).toEqual([first]);
    await makeAdapterFolder(folder, { model: {}, kind: "peft", seed: 2 });
    expect((await ask(model, folder)).text).not.toBe(text);
    expect(await convertedFiles()).toHaveLength(2);
  });

  it.each<[string, Partial<AdapterFolderOptions>, string, RegExp]>([
    ["of a DoRA adapter", { config: { use_dora: true } }, "model_unsupported", /DoRA/],
    [
      "for a model of another width",
      { model: { architecture: "llama", embedding: 128 } },
      "adapter_mismatch",
      /do not fit/,
    ],
    [
      "for a model of another family",
      { model: { architecture: "lfm2" } },
      "model_unsupported",
      /llama models/,
    ],
  ])("%s is refused, and leaves no file", async (_, more, code, message) => {
    const folder = await makeFolder({ model: {}, kind: "peft", ...more });
    const refused = expect(ask(await tinyModel(), folder)).rejects;
    await refused.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await convertedFiles()).toEqual([]);
  });

  it("without an adapter is refused", async () => {
    await writeFile(path.join(home, "README.md"), "nothing");
    const refused = expect(ask(await tinyModel(), home)).rejects;
    await refused.toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining("adapter_config.json"),
    });
  });
});
