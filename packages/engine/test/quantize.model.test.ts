// Quantizing: every level, every refusal, and no files left behind after a failure or an abort.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  computeImatrix,
  EngineError,
  listModels,
  load,
  quantizationLevels,
  quantizeModel,
  registerModel,
  type QuantizeProgress,
} from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { readGguf } from "@ingle/gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { smallTensors, writeSmallImatrix, writeSmallModel } from "./small-model.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
const at = (name: string): string => path.join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-quantize-"));
  env = { HOME: folder, INGLE_HOME: at("ingle") };
});
afterEach(() => rm(folder, { recursive: true }));

async function rejection(promise: Promise<unknown>): Promise<EngineError> {
  const error: unknown = await promise.then(
    () => new Error("nothing was thrown"),
    (thrown: unknown) => thrown,
  );
  if (EngineError.is(error)) return error;
  throw error;
}

/** The ggml type number of each tensor. */
async function typesIn(file: string): Promise<Map<string, number>> {
  return new Map((await readGguf(file)).tensors.map(({ name, typeCode }) => [name, typeCode]));
}

describe("quantizeModel", () => {
  it.each(quantizationLevels.filter(({ needsImatrix }) => !needsImatrix))(
    "writes $name",
    async ({ name, fileType }) => {
      const model = await writeSmallModel(at("small-f32.gguf"));
      const output = name === "F32" ? at("same-F32.gguf") : undefined; // by default, it would be the model itself
      const made = await quantizeModel(model, { to: name.toLowerCase(), output, env });
      expect(made.path).toBe(output ?? at(`small-${name}.gguf`));
      const { metadata } = await readGguf(made.path);
      expect(metadata.get("general.file_type")).toMatchObject({ value: fileType });
      expect(made.sizeBytes).toBe((await stat(made.path)).size);
      expect(made.sizeBytes < made.sizeBytesBefore || name === "F32").toBe(true);
    },
  );

  // Only imatrix.model.test.ts writes one of them: llama.cpp first computes large tables for these levels.
  it.each(quantizationLevels.filter(({ needsImatrix }) => needsImatrix))(
    "asks for an importance matrix for $name, and takes one",
    async ({ name }) => {
      const model = await writeSmallModel(at("small-f32.gguf"));
      const error = await rejection(quantizeModel(model, { to: name, env }));
      expect(error).toMatchObject({ code: "invalid_request", details: { param: "to" } });
      expect(await readdir(folder)).toEqual(["small-f32.gguf"]);
      const imatrix = await writeSmallImatrix(at("imatrix.gguf"));
      const noRoom = async (): Promise<number> => 0;
      const later = await rejection(quantizeModel(model, { to: name, imatrix, env, freeBytes: noRoom }));
      expect(later.code).toBe("disk_full"); // this check comes after all checks of the model
    },
  );

  it("gives each tensor the type of the level, and keeps norms unquantized", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const { path: made, bitsPerWeight } = await quantizeModel(model, { to: "q6_k", env });
    expect(made).toBe(at("small-Q6_K.gguf"));
    const types = await typesIn(made);
    expect(types.get("blk.0.attn_q.weight")).toBe(14);
    expect(types.get("blk.0.attn_norm.weight")).toBe(0);
    expect(bitsPerWeight).toBeGreaterThan(6.5);
    expect(bitsPerWeight).toBeLessThan(6.7);
  });

  it.each(["llama", "lfm2", "lfm2moe", "gemma3"] as const)(
    "makes a %s model that loads and writes",
    async (architecture) => {
      const made = await quantizeModel(await tinyModel({ architecture }), { output: at("made.gguf"), env });
      await using loaded = await load(made.path, { threads: 1 });
      const reply = await loaded.model.generate({ prompt: "once upon a time", maxTokens: 8, temperature: 0 });
      expect(loaded.model.info.quantization).toBe("Q4_K_M");
      expect(reply.usage.completionTokens).toBe(8);
    },
  );

  it("hardly changes the probabilities with Q8_0", async () => {
    const original = await tinyModel();
    const made = await quantizeModel(original, { to: "Q8_0", output: at("made.gguf"), env });
    const [before, after] = [await likeliest(original), await likeliest(made.path)];
    for (const [token, logprob] of before.slice(0, 5))
      expect(Math.abs((new Map(after).get(token) ?? -Infinity) - logprob)).toBeLessThan(0.2);
  });

  it("writes a split model as one file", async () => {
    const half = 6;
    const split = (part: number) =>
      ["split.no", "split.count", "split.tensors.count"].map(
        (key, index) =>
          [
            key,
            { type: index === 2 ? "int32" : "uint16", value: [part, 2, smallTensors.length][index] ?? 0 },
          ] as [string, { type: "int32" | "uint16"; value: number }],
      );
    await writeSmallModel(at("big-f32-00001-of-00002.gguf"), {
      keys: split(0),
      tensors: smallTensors.slice(0, half),
    });
    await writeSmallModel(at("big-f32-00002-of-00002.gguf"), {
      keys: split(1),
      tensors: smallTensors.slice(half),
    });
    await writeSmallModel(at("whole.gguf"));
    const made = await quantizeModel(at("big-f32-00002-of-00002.gguf"), { to: "Q8_0", env });
    expect(made.path).toBe(at("big-Q8_0.gguf"));
    expect(await typesIn(made.path)).toEqual(
      await typesIn((await quantizeModel(at("whole.gguf"), { to: "Q8_0", env })).path),
    );
  });

  it("reports progress from the start to nearly the end", async () => {
    const news: QuantizeProgress[] = [];
    await quantizeModel(await writeSmallModel(at("small.gguf")), {
      env,
      onProgress: (one) => news.push(one),
    });
    expect(news.map(({ tensor }) => tensor).toSorted()).toEqual(
      smallTensors.map(({ name }) => name).toSorted(),
    );
    expect(news[0]?.bytes).toBe(0);
    expect(news.map(({ bytes }) => bytes)).toEqual(news.map(({ bytes }) => bytes).toSorted((a, b) => a - b));
    expect(news.at(-1)?.bytes).toBeLessThan(news.at(-1)?.totalBytes ?? 0);
  });

  it("stops at once when it is aborted, and leaves no files behind", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ bytes }: QuantizeProgress): void => void (bytes > 0 && stop.abort(reason));
    const model = await tinyModel({ embedding: 256, feedForward: 256 });
    const pending = quantizeModel(model, {
      to: "Q4_K_M",
      output: at("made.gguf"),
      env,
      onProgress,
      signal: stop.signal,
    });
    await expect(pending).rejects.toBe(reason);
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses to start if the disk is too full", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const error = await rejection(quantizeModel(model, { env, freeBytes: async () => 20_000 }));
    expect(error.code).toBe("disk_full");
    expect(error.details["neededBytes"]).toBeGreaterThan(16 * 1024 * 1024);
    expect(await readdir(folder)).toEqual(["small.gguf"]);
  });
});

describe("what quantizeModel refuses", () => {
  it("a model that is already quantized, unless this is explicitly allowed", async () => {
    const once = await quantizeModel(await writeSmallModel(at("small-f32.gguf")), { to: "Q8_0", env });
    const error = await rejection(quantizeModel(once.path, { env }));
    expect(error.code).toBe("invalid_request");
    expect(error.message).toContain("already quantized (Q8_0)");
    const twice = await quantizeModel(once.path, { allowRequantize: true, env });
    expect(twice.path).toBe(at("small-Q4_K_M.gguf"));
  });

  it("an existing output file, unless it may be overwritten", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const { path: made } = await quantizeModel(model, { to: "Q8_0", env });
    const whole = await readFile(made);
    await writeFile(made, "something of value");
    expect(await rejection(quantizeModel(model, { to: "Q8_0", env }))).toMatchObject({
      code: "invalid_request",
    });
    expect(await readFile(made, "utf8")).toBe("something of value");
    await quantizeModel(model, { to: "Q8_0", overwrite: true, env });
    expect(await readFile(made)).toEqual(whole);
  });

  it("the model itself as its output, even if it may be overwritten", async () => {
    const model = await writeSmallModel(at("small-Q8_0.gguf")); // badly named
    const before = await readFile(model);
    const error = await rejection(quantizeModel(model, { to: "Q8_0", overwrite: true, env }));
    expect(error.message).toContain("is the model itself");
    expect(await readFile(model)).toEqual(before);
  });

  it("an output that is not named .gguf, or in a missing folder", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    for (const output of [at("made.bin"), at("no/where.gguf")])
      expect(await rejection(quantizeModel(model, { output, env }))).toMatchObject({
        code: "invalid_request",
      });
  });

  it.each([0, 1.5, 513])("%d threads", async (threads) => {
    const model = await writeSmallModel(at("small.gguf"));
    for (const working of [
      quantizeModel(model, { threads, env }),
      computeImatrix(model, "", { threads, env }),
    ])
      expect(await rejection(working)).toMatchObject({
        code: "invalid_request",
        details: { param: "threads" },
      });
  });

  it("an importance matrix of another model, a damaged one, and other files", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const other = await writeSmallImatrix(at("other.gguf"), { columns: 128 });
    const wrongKey = await writeSmallImatrix(at("key.gguf"), {
      keys: [["imatrix.chunk_size", { type: "string", value: "16" }]],
    });
    await writeFile(at("cut.gguf"), (await readFile(other)).subarray(0, 1500));
    await writeFile(at("text.gguf"), "this is a text and no matrix");
    for (const imatrix of [
      other,
      wrongKey,
      at("cut.gguf"),
      at("text.gguf"),
      model,
      folder,
      at("nowhere.gguf"),
    ]) {
      const error = await rejection(quantizeModel(model, { imatrix, env }));
      expect(error).toMatchObject({ code: "invalid_request", details: { param: "imatrix" } });
    }
  });
});

describe("damaged models", () => {
  it("are model_invalid if they are truncated or contain NaN", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const bytes = await readFile(model);
    await writeFile(at("short.gguf"), bytes.subarray(0, bytes.length - 1000));
    await writeFile(
      at("nan.gguf"),
      Buffer.concat([bytes.subarray(0, bytes.length - 4096), Buffer.alloc(4096, 0xff)]),
    );
    for (const name of ["short.gguf", "nan.gguf"]) {
      expect(await rejection(quantizeModel(at(name), { env }))).toMatchObject({ code: "model_invalid" });
    }
    expect((await readdir(folder)).toSorted()).toEqual(["nan.gguf", "short.gguf", "small.gguf"]);
  });

  it("are an error even if they crash the process that reads them", async () => {
    // More layers than llama.cpp supports: it aborts, which cannot be prevented.
    const model = await writeSmallModel(at("deep.gguf"), {
      keys: [["llama.block_count", { type: "uint32", value: 100_000 }]],
    });
    const error = await rejection(quantizeModel(model, { env }));
    expect(error.code).toBe("engine_failed");
    expect(error.message).toContain("crashed (");
    expect(await readdir(folder)).toEqual(["deep.gguf"]);
  });
});

describe("registerModel", () => {
  it("lists a model quantized anywhere once, and one in the models folder under its own id", async () => {
    const made = await quantizeModel(await writeSmallModel(at("small.gguf")), { to: "Q8_0", env });
    for (let time = 0; time < 2; time += 1)
      expect((await registerModel(made.path, { env })).id).toBe("small-Q8_0");
    expect((await listModels({ env })).map(({ id, place }) => ({ id, place }))).toEqual([
      { id: "small-Q8_0", place: "import" },
    ]);
    const ours = at("ingle/models/own.gguf");
    await mkdir(path.dirname(ours), { recursive: true });
    await copyFile(made.path, ours);
    expect(await registerModel(ours, { env })).toMatchObject({ id: "own", place: "ingle" });
  });
});

/** The most likely first tokens after a text, with their log probabilities. */
async function likeliest(file: string): Promise<[string, number][]> {
  await using loaded = await load(file, { threads: 1, flashAttention: "off" });
  const { logprobs } = await loaded.model.generate({
    prompt: "the river and the sea",
    maxTokens: 1,
    temperature: 0,
    logprobs: 20,
  });
  return (logprobs?.[0]?.top ?? []).map(({ bytes, logprob }) => [
    Buffer.from(bytes).toString("hex"),
    logprob,
  ]);
}
