import { EngineError, type InstalledModel } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { installedTiny, scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { resolveConfig } from "../../config.ts";
import type { Engine } from "../context.ts";
import { installedModels } from "./installed-models.ts";

const tiny: InstalledModel = { ...installedTiny, aliases: ["daily"] };
const budget = { byMemory: { host: 1000 } };
const { signal } = new AbortController();

/** One installed model, served with these flags, and the contexts that were tried for it. */
async function installed(ctx: number, fits: (contextLength: number | undefined) => void) {
  const tried: (number | undefined)[] = [];
  const fitModel: Engine["fitModel"] = async (file, options, rest) => {
    tried.push(options.contextLength);
    fits(options.contextLength);
    return await scriptedEngine().fitModel(file, options, rest);
  };
  const engine = scriptedEngine({}, { listModels: async () => [tiny], fitModel });
  const { context } = testWorld({ engine });
  const config = resolveConfig({ flags: { ctx }, env: {} });
  const [known] = await installedModels(context, () => config.engine).known();
  return { known, tried };
}

describe("installed models", () => {
  it("are known by id and alias, with what the library knows of them", async () => {
    const { known } = await installed(2048, () => {});
    expect(known).toMatchObject({
      id: "acme/tiny-GGUF:Q4_0",
      aliases: ["daily"],
      about: { size_bytes: 700, quantization: "Q4_0", created: 5, readsImages: false },
    });
  });

  it("are known with their origin and the traits of their files", async () => {
    const traits = {
      architecture: "lfm2",
      knowsTools: true,
      knowsThinking: false,
      isEmbedder: false,
      sampling: {},
    };
    const lastUsedAt = new Date(7_000);
    const models = [
      { ...tiny, sha256: "ab12", lastUsedAt },
      { ...tiny, id: "other", path: "/hub/other.gguf", place: "huggingface", format: "mlx" } as const,
    ];
    const overrides: Partial<Engine> = {
      listModels: async () => models,
      modelTraits: async (path) => (path === tiny.path ? traits : undefined),
    };
    const { context } = testWorld({ engine: scriptedEngine({}, overrides) });
    const known = await installedModels(context, () => resolveConfig({ flags: {}, env: {} }).engine).known();
    expect(known.map(({ listed }) => listed)).toEqual([
      { format: "gguf", sha256: "ab12", lastUsedAt, isRemovable: true, isImported: false, traits },
      {
        format: "mlx",
        sha256: null,
        lastUsedAt: null,
        isRemovable: false,
        isImported: false,
        traits: undefined,
      },
    ]);
  });

  it("are known to read images if a projector lies beside them", async () => {
    const seeing = { ...tiny, mmproj: "/models/mmproj-tiny.gguf" };
    const { context } = testWorld({ engine: scriptedEngine({}, { listModels: async () => [tiny, seeing] }) });
    const known = await installedModels(context, () => resolveConfig({ flags: {}, env: {} }).engine).known();
    expect(known.map(({ about }) => about?.readsImages)).toEqual([false, true]);
  });

  it("use the context they were trained for if --ctx exceeds it", async () => {
    const { known, tried } = await installed(8192, (contextLength) => {
      if (contextLength === 512) return;
      const details = { param: "contextLength", contextLengthTrain: 512 };
      throw new EngineError("invalid_request", "contextLength: too long.", { details });
    });
    expect((await known?.prepare({ budget, signal }))?.byMemory).toEqual({ host: 1000 });
    expect(tried).toEqual([8192, 512]);
  });

  it("never use less than a request asks for", async () => {
    const { known, tried } = await installed(8192, (contextLength) => {
      const details = { param: "contextLength", contextLengthTrain: 512 };
      throw new EngineError("invalid_request", `contextLength: ${contextLength} is too long.`, { details });
    });
    const settings = { contextLength: 4096 };
    await expect(known?.prepare({ budget, settings, signal })).rejects.toThrow(/4096/);
    expect(tried).toEqual([4096]);
  });

  it("fail for any other reason", async () => {
    const { known } = await installed(8192, () => {
      throw new EngineError("model_invalid", "tiny.gguf is cut short.");
    });
    await expect(known?.prepare({ budget, signal })).rejects.toMatchObject({ code: "model_invalid" });
  });
});
