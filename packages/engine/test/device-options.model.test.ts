// Options of devices, processors and positions: each has an effect that can be seen, and where it can have none, loading fails and
// says so.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildInfo, fitModel, load, type LoadedModel, type LoadOptions } from "@ingle/engine";
import { exactArithmetic, tinyModel } from "@ingle/fixtures";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const prompt = "The keeper of the lighthouse counts the ships and writes their names into a book";
const isLinux = process.platform === "linux";
const greedy = { temperature: 0, maxTokens: 8 } as const;

async function loadAndGenerate(options: LoadOptions): Promise<string> {
  await using loaded = await loadTiny({ ...exactArithmetic, ...options }, { weights: "f32" });
  return await generateText(loaded);
}

async function generateText({ model }: LoadedModel): Promise<string> {
  return (await model.generate({ prompt, ...greedy })).text;
}

async function loadError(options: LoadOptions, file?: string): Promise<unknown> {
  try {
    await using _ = await load(file ?? (await tinyModel()), { threads: 1, ...options });
    return undefined;
  } catch (error) {
    return error;
  }
}

const refused = (param: string) => ({ code: "invalid_request", details: { param } });

/** The values of a line of /proc/…/status, one for each thread of this process. */
async function ofThreads(name: string): Promise<string[]> {
  const tasks = await readdir("/proc/self/task");
  const texts = await Promise.all(
    // A thread may end while the folder is read.
    tasks.map((task) => readFile(`/proc/self/task/${task}/status`, "utf8").catch(() => "")),
  );
  return texts.flatMap((text) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(text)?.[1] ?? []);
}

describe("how a model is computed", () => {
  it("computes the same text in smaller parts, with smaller buffers", async () => {
    const file = await tinyModel();
    const computeBytes = async (ubatchTokens: number): Promise<number> => {
      const budget = { byMemory: {} };
      return (await fitModel(file, { threads: 1, batchTokens: 512, ubatchTokens }, { budget })).footprint
        .computeBytes;
    };
    expect(await computeBytes(16)).toBeLessThan(await computeBytes(512));
    expect(await loadAndGenerate({ ubatchTokens: 3 })).toBe(await loadAndGenerate({}));
    expect(await loadError({ batchTokens: 64, ubatchTokens: 65 })).toMatchObject(refused("ubatchTokens"));
  });

  it("gives each request KV cells of its own, which changes no text and takes more memory", async () => {
    const own = { kvUnified: false, contextLength: 256, parallel: 2 } as const;
    expect(await loadAndGenerate(own)).toBe(await loadAndGenerate({ ...own, kvUnified: true }));
    const fitted = await fitModel(await tinyModel(), { threads: 1, ...own }, { budget: { byMemory: {} } });
    expect(fitted.options.cells).toBe(3 * 256);
    expect(await loadError({ ...own, cells: 2 * 256 })).toMatchObject(refused("kvUnified"));
    const pool = await fitModel(
      await tinyModel(),
      { threads: 1, ...own, kvUnified: true },
      { budget: { byMemory: {} } },
    );
    expect(fitted.footprint.contextBytes).toBe(1.5 * pool.footprint.contextBytes);
  });

  it.runIf(isLinux)("starts threads for large steps, on the given processors and no others", async () => {
    const [allowed = "0"] = await ofThreads("Cpus_allowed_list");
    const cpu = Number(/\d+/.exec(allowed)?.[0]);
    const isOn = `${cpu}`;
    const before = (await ofThreads("Cpus_allowed_list")).length;
    const options = { cpuRange: `${cpu}-${cpu}`, cpuStrict: true, threads: 1, threadsBatch: 3 };
    await using loaded = await loadTiny(options);
    await generateText(loaded);
    const lists = await ofThreads("Cpus_allowed_list");
    expect(lists.length).toBeGreaterThanOrEqual(before + 3); // the engine's own thread computes too
    if (isOn !== allowed) expect(lists.filter((list) => list === isOn)).toHaveLength(3);
    expect(await loadError({ cpuMask: `0x1${"0".repeat(127)}` })).toMatchObject(refused("cpuMask"));
    expect(await loadError({ cpuStrict: true })).toMatchObject(refused("cpuStrict"));
    expect(await loadError({ cpuRange: "3-1" })).toMatchObject(refused("cpuRange"));
    expect(await loadError({ cpuMask: "0xg" })).toMatchObject(refused("cpuMask"));
    expect(await loadError({ cpuMask: "0x0" })).toMatchObject(refused("cpuMask"));
  });

  it.runIf(isLinux)("lowers the priority of its threads, and raises it only with the right to", async () => {
    const policies = async (): Promise<string[]> => {
      const tasks = await readdir("/proc/self/task");
      const stats = await Promise.all(
        tasks.map((task) => readFile(`/proc/self/task/${task}/stat`, "utf8").catch(() => "")),
      );
      // The fields after the program's name, which may have spaces: the policy is the 41st of all.
      return stats.map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[38] ?? "");
    };
    const [batch, fifo] = ["3", "1"];
    {
      await using loaded = await loadTiny({ priority: -1, threads: 2 });
      await generateText(loaded);
      expect((await policies()).filter((policy) => policy === batch)).toHaveLength(2);
    }
    const refusal = await loadError({ priority: 1 });
    if (refusal !== undefined) {
      expect(refusal).toMatchObject(refused("priority"));
      return;
    }
    await using loaded = await loadTiny({ priority: 1, threads: 2 });
    await generateText(loaded);
    expect(await policies()).toContain(fifo);
  });

  it.runIf(isLinux)("places threads on NUMA nodes only where there are several", async () => {
    const nodes: string[] = await readdir("/sys/devices/system/node").catch(() => []);
    if (nodes.includes("node1")) return;
    expect(await loadError({ numa: "distribute" })).toMatchObject(refused("numa"));
  });
});

describe("how a model's file is read", () => {
  it.runIf(isLinux)("maps the file, or reads it", async () => {
    const file = await tinyModel();
    const isMapped = async (): Promise<boolean> =>
      (await readFile("/proc/self/maps", "utf8")).includes(path.basename(file));
    for (const mmap of [true, false]) {
      await using _ = await load(file, { threads: 1, mmap });
      expect(await isMapped()).toBe(mmap);
    }
  });

  it.runIf(isLinux)("locks it in memory, or says that the system does not allow that", async () => {
    const refusal = await loadError({ mlock: true });
    if (refusal !== undefined) {
      expect(refusal).toMatchObject(refused("mlock"));
      return;
    }
    await using loaded = await loadTiny({ mlock: true });
    const [locked = "0"] = await ofThreads("VmLck");
    expect(Number.parseInt(locked, 10) * 1024).toBeGreaterThanOrEqual(0.9 * loaded.model.info.sizeBytes);
  });

  it("finds weights that are no numbers if it is asked to", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-nan-"));
    const file = path.join(folder, "damaged.gguf");
    const bytes = await readFile(await tinyModel({ weights: "f32" }));
    bytes.fill(0xff, bytes.length - 64);
    await writeFile(file, bytes);
    expect(await loadError({}, file)).toBeUndefined();
    expect(await loadError({ checkTensors: true }, file)).toMatchObject({ code: "model_invalid" });
    await rm(folder, { recursive: true });
  });

  it("replaces values of the header, and refuses those that nothing reads", async () => {
    const usual = await loadAndGenerate({});
    const epsilon = "llama.attention.layer_norm_rms_epsilon";
    expect(await loadAndGenerate({ overrideKv: [`${epsilon}=float:9.5`] })).not.toBe(usual);
    for (const wrong of [`${epsilon}=int:1`, "llama.no_such_key=int:1"])
      expect(await loadError({ overrideKv: [wrong] })).toMatchObject(refused("overrideKv"));
    expect(await loadError({ overrideKv: ["no type"] })).toMatchObject({ code: "invalid_request" });
  });
});

describe("positions", () => {
  it("are stretched, so that longer contexts than the trained one are allowed", async () => {
    const usual = await loadAndGenerate({});
    expect(await loadAndGenerate({ ropeScale: 8 })).not.toBe(usual);
    expect(await loadAndGenerate({ ropeFreqScale: 1 / 8 })).toBe(await loadAndGenerate({ ropeScale: 8 }));
    expect(await loadAndGenerate({ ropeFreqBase: 3 })).not.toBe(usual);
    expect(await loadAndGenerate({ ropeScaling: "yarn", ropeScale: 8 })).not.toBe(
      await loadAndGenerate({ ropeScaling: "linear", ropeScale: 8 }),
    );
    expect(await loadError({ contextLength: 4096 })).toMatchObject({
      details: { param: "contextLength" },
    });
    await using loaded = await loadTiny({ contextLength: 4096, ropeScale: 2 });
    const { contextLength } = loaded.model.info;
    expect(contextLength).toBe(4096);
    const long = await loaded.model.generate({ prompt: "word ".repeat(2500), maxTokens: 2 });
    expect(long.usage.promptTokens).toBeGreaterThan(2048);
  });

  it("are not stretched by options that contradict each other", async () => {
    expect(await loadError({ ropeScale: 2, ropeFreqScale: 0.5 })).toMatchObject(refused("ropeScale"));
    expect(await loadError({ yarnBetaFast: 16 })).toMatchObject(refused("ropeScaling"));
  });
});

describe("the checkpoints of a hybrid model", () => {
  it("share prefixes within their memory, and none without", async () => {
    const shared = "You are the keeper of a lighthouse. ".repeat(3) + "</s>";
    for (const checkpointRamMiB of [16, 0]) {
      await using loaded = await loadTiny({ checkpointRamMiB, contextLength: 512 }, { architecture: "lfm2" });
      await loaded.model.generate({ prompt: `${shared}First?</s>`, ...greedy });
      const { usage } = await loaded.model.generate({ prompt: `${shared}Second?</s>`, ...greedy });
      if (checkpointRamMiB > 0) expect(usage.cachedTokens).toBeGreaterThan(0);
      else expect(usage.cachedTokens).toBe(0);
    }
  });
});

describe("where tensors go", () => {
  let hasGpu = false;
  beforeAll(async () => {
    const { devices } = await buildInfo();
    hasGpu = devices.some(({ type }) => type === "gpu" || type === "igpu");
  });

  it("puts those on the processor whose names match a pattern, without changing the text", async () => {
    const overrideTensor = ["blk\\.[0-9]+\\.ffn_(up|down)=CPU", "^output=CPU"];
    expect(await loadAndGenerate({ overrideTensor, devices: ["none"] })).toBe(
      await loadAndGenerate({ devices: ["none"] }),
    );
  });

  it.each(["no_such_tensor=CPU", "(ffn=CPU", "ffn(?=_up)=CPU", "((a{200}){200}){200}=CPU", "ffn=CUDA99"])(
    "refuses the pattern %s",
    async (pattern) => {
      const refusal = await loadError({ overrideTensor: [pattern] });
      expect(refusal).toMatchObject({
        code: "invalid_request",
        details: { param: expect.stringMatching(/^overrideTensor/) },
      });
    },
  );

  it("takes a short time for a pattern that a backtracking engine needs years for", async () => {
    const began = performance.now();
    const slow = `${"(a|_|[a-z])*".repeat(12)}\\d{9}$=CPU`;
    expect(await loadError({ overrideTensor: [slow] })).toMatchObject(refused("overrideTensor"));
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it.each([
    ["devices", { devices: ["CUDA99"] }],
    ["gpuLayers", { gpuLayers: 1 }],
    ["splitMode", { splitMode: "row" }],
    ["splitMode", { splitMode: "none" }],
    ["mainGpu", { mainGpu: 1 }],
    ["tensorSplit", { tensorSplit: [1, 2] }],
    ["cpuMoeLayers", { cpuMoeLayers: 1 }],
    ["kvOffload", { kvOffload: false }],
  ] satisfies [string, LoadOptions][])("refuses %s where it has no effect: %j", async (param, options) => {
    const without = hasGpu && param !== "devices" ? { devices: ["none"] } : {};
    expect(await loadError({ ...without, ...options })).toMatchObject(refused(param));
  });

  it("refuses lists and numbers beyond their bounds before the addon sees them", async () => {
    const many = Array.from({ length: 65 }, () => "ffn=CPU");
    expect(await loadError({ overrideTensor: many })).toMatchObject(refused("overrideTensor"));
    expect(await loadError({ overrideTensor: [`${"a".repeat(257)}=CPU`] })).toMatchObject({
      code: "invalid_request",
    });
    expect(await loadError({ tensorSplit: [0, 0] })).toMatchObject(refused("tensorSplit"));
    expect(await loadError({ tensorSplit: [Number.NaN] })).toMatchObject({ code: "invalid_request" });
    expect(await loadError({ ropeFreqBase: Infinity })).toMatchObject(refused("ropeFreqBase"));
  });
});
