import { mkdtemp, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, starterModel, type MemoryBudget } from "@ingle/engine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installedTiny, scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-doctor-"));
});
afterEach(() => rm(home, { recursive: true }));

/** The value of a name in the doctor's table. */
const value = (table: string, name: string): string | undefined =>
  table
    .split("\n")
    .find((line) => line.startsWith(`${name}  `))
    ?.slice(name.length)
    .trim();

describe("ingle doctor", () => {
  it("prints what was built and what the machine offers", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor"], context)).toBe(0);
    expect(value(out(), "node")).toBe(process.version);
    expect(value(out(), "threads")).toBe("4: one per performance core");
    expect(value(out(), "llama.cpp")).toBe("v0.5.0 (de3ff815)");
    expect(value(out(), "GPU backend")).toBe("none (built for the CPU only)");
    expect(value(out(), "device")).toBe("CPU (CPU, cpu): A processor, 2 GiB, 1 GiB free");
    expect(value(out(), "CPU code")).toBe("for the processor it was built on");
    expect(value(out(), "CPU features")).toBe("AVX2 FMA");
    expect(value(out(), "KV cache types")).toBe("f16 q8_0");
    expect(value(out(), "models folder")).toBe(path.join(home, "models"));
  });

  it("prints that a build for a GPU found none", async () => {
    const plain = scriptedEngine();
    const buildInfo = async () => ({ ...(await plain.buildInfo()), gpu: "vulkan" as const });
    const engine = scriptedEngine({}, { buildInfo });
    const { context, out } = testWorld({ engine, env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor"], context)).toBe(0);
    expect(value(out(), "GPU backend")).toBe("vulkan, but it found no GPU");
  });

  it("prints what a model on this machine would get, in one line", async () => {
    const file = path.join(home, "some.gguf");
    await writeFile(file, "GGUF");
    const there = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor", file], there.context)).toBe(0);
    expect(there.out()).toMatch(/\n\nMODEL +WOULD GET\nsome +on the processor\n$/);
  });

  it("plans the models on this machine for its devices, the latest first, and says why one does not fit", async () => {
    const gpu = { backend: "CUDA", description: "A GPU", type: "gpu", memoryTotal: 2 ** 34 } as const;
    const devices = [
      { ...gpu, name: "CUDA0", memoryFree: 2 ** 33 },
      { ...gpu, name: "CUDA1", memoryFree: 2 ** 34 },
    ];
    const budgets: MemoryBudget[] = [];
    const plain = scriptedEngine();
    const engine = scriptedEngine(
      {},
      {
        buildInfo: async () => ({ ...(await plain.buildInfo()), devices }),
        listModels: async () => [
          { ...installedTiny, id: "old", path: "/models/old.gguf", addedAt: new Date(1) },
          { ...installedTiny, id: "new", path: "/models/new.gguf", lastUsedAt: new Date(9_000) },
        ],
        fitModel: async (file, options, fit) => {
          budgets.push(fit.budget);
          if (file.includes("old")) throw new EngineError("out_of_memory", "old.gguf needs 9 TiB.");
          return {
            ...(await plain.fitModel(file, options, fit)),
            summary: "5 of 16 layers on CUDA0, 11 on CUDA1, the experts of 3 on the processor.",
            layersIn: { CUDA0: 5, CUDA1: 11 },
            cpuMoeLayers: 3,
            footprint: {
              weightsBytes: 700,
              contextBytes: 200,
              computeBytes: 100,
              byMemory: { host: 100, CUDA0: 300, CUDA1: 600 },
            },
          };
        },
      },
    );
    const text = testWorld({ engine, env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor"], text.context)).toBe(0);
    expect(text.out()).toContain("device          CUDA0 (CUDA, gpu): A GPU, 16 GiB, 8 GiB free\n");
    expect(text.out()).toMatch(
      /\nnew +5 of 16 layers on CUDA0, 11 on CUDA1, [^\n]+\nold +old\.gguf needs 9 TiB\.\n$/,
    );
    expect(budgets[0]?.byMemory).toMatchObject({ CUDA0: Math.floor(0.95 * 2 ** 33) });

    const json = testWorld({ engine, env: { INGLE_HOME: home } });
    expect(await main("ingle", ["doctor", "--json"], json.context)).toBe(0);
    expect(JSON.parse(json.out())).toMatchObject({
      engine: { llama_cpp: { version: "v0.5.0" }, kv_types: ["f16", "q8_0"] },
      problem: null,
      devices: [
        { name: "CUDA0", type: "gpu", memory_total_bytes: 2 ** 34, memory_free_bytes: 2 ** 33 },
        { name: "CUDA1" },
      ],
      models: [
        {
          id: "new",
          fits: true,
          context_length: 2048,
          kv_cells: 2048,
          layers: { CUDA0: 5, CUDA1: 11 },
          cpu_moe_layers: 3,
          memory_bytes: { host: 100, CUDA0: 300, CUDA1: 600 },
        },
        { id: "old", fits: false, summary: "old.gguf needs 9 TiB.", context_length: null, layers: null },
      ],
    });
  });

  it("distinguishes a downloaded starter model from a missing or incomplete one", async () => {
    const { context, out } = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    const file = path.join(home, "models", starterModel.fileName);
    await mkdir(path.dirname(file));
    await writeFile(file, "GGUF");
    await main("ingle", ["doctor"], context);
    expect(value(out(), "starter model")).toContain("not downloaded yet");
    await truncate(file, starterModel.sizeBytes); // a sparse file of the right size
    const whole = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
    await main("ingle", ["doctor"], whole.context);
    expect(value(whole.out(), "starter model")).toMatch(/, downloaded$/);
  });

  it("prints the rest without a native engine, says what to do and ends with 1", async () => {
    const buildInfo = () => Promise.reject(new EngineError("native_missing", "Run the build."));
    const { context, out, err } = testWorld({
      engine: scriptedEngine({}, { buildInfo }),
      env: { INGLE_HOME: home },
    });
    expect(await main("ingle", ["doctor"], context)).toBe(1);
    expect(value(out(), "engine")).toBe("not built");
    expect(value(out(), "models folder")).toBe(path.join(home, "models"));
    expect(err()).toContain("Run the build.");
  });
});
