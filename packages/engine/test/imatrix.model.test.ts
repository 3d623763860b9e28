// Importance matrices: their numbers are compared to sums computed here, and used to quantize a model.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { computeImatrix, load, quantizeModel, type ImatrixProgress } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { aligned, readGguf } from "@ingle/gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeSmallImatrix, writeSmallModel } from "./small-model.ts";
import { prompts } from "./tiny.ts";

const text = prompts(12).join(". ");
const contextLength = 32;
let folder: string;
let env: NodeJS.ProcessEnv;
const at = (name: string): string => path.join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-imatrix-"));
  env = { HOME: folder, INGLE_HOME: at("ingle") };
});
afterEach(() => rm(folder, { recursive: true }));

/** The F32 tensors of a file, by name. */
async function numbersIn(file: string): Promise<(name: string) => Float32Array> {
  const { tensors, bytes } = await readGguf(file);
  const content = await readFile(file);
  return (name) => {
    const tensor = tensors.find((one) => one.name === name)!;
    const start = aligned(bytes) + tensor.offset;
    return new Float32Array(Uint8Array.from(content.subarray(start, start + tensor.sizeBytes)).buffer);
  };
}

async function encodeText(model: string): Promise<number[]> {
  await using loaded = await load(model, { threads: 1 });
  return [...(await loaded.tokenizer.encode(text, { addSpecial: true }))];
}

describe("computeImatrix", () => {
  it("sums the squares of the activations that the first layer's matrices are multiplied by", async () => {
    const model = await tinyModel();
    const made = await computeImatrix(model, text, {
      contextLength,
      chunks: 3,
      output: at("imatrix.gguf"),
      env,
    });
    expect(made).toMatchObject({ path: at("imatrix.gguf"), chunks: 3, contextLength });
    const [found, weights] = [await numbersIn(made.path), await numbersIn(model)];
    const [embeddings, norm] = [weights("token_embd.weight"), weights("blk.0.attn_norm.weight")];
    const width = norm.length;
    const sums = new Float64Array(width);
    const tokens = await encodeText(model);
    for (let index = 0; index < 3 * contextLength; index += 1) {
      const token = index % contextLength === 0 ? tokens[0]! : tokens[index]!; // each chunk begins with the first token of the text
      const row = embeddings.subarray(token * width, (token + 1) * width);
      const meanSquare = row.reduce((sum, value) => sum + value * value, 0) / width;
      for (let column = 0; column < width; column += 1)
        sums[column]! += (row[column]! * norm[column]!) ** 2 / (meanSquare + 1e-5);
    }
    for (const matrix of ["attn_q", "attn_k", "attn_v"]) {
      const ours = found(`blk.0.${matrix}.weight.in_sum2`);
      for (const [column, sum] of sums.entries()) expect(ours[column]! / sum).toBeCloseTo(1, 3);
      expect([...found(`blk.0.${matrix}.weight.counts`)]).toEqual([3 * contextLength]);
    }
  });

  it("counts the tokens of each expert, none twice", async () => {
    const model = await tinyModel({ architecture: "lfm2moe" });
    const made = await computeImatrix(model, text, {
      contextLength,
      chunks: 3,
      output: at("imatrix.gguf"),
      env,
    });
    const found = await numbersIn(made.path);
    const experts = 4;
    const asked = 2;
    const counts = found("blk.1.ffn_gate_exps.weight.counts");
    expect(counts).toHaveLength(experts);
    expect(counts.reduce((sum, count) => sum + count)).toBe(asked * made.chunks * contextLength);
    // The router sees every token once; each chosen expert sees its vector once.
    const router = found("blk.1.ffn_gate_inp.weight.in_sum2");
    const sums = found("blk.1.ffn_gate_exps.weight.in_sum2");
    for (const [column, sum] of router.entries()) {
      const ofExperts = Array.from(
        { length: experts },
        (_, expert) => sums[expert * router.length + column]!,
      );
      expect(ofExperts.reduce((total, one) => total + one) / (asked * sum)).toBeCloseTo(1, 3);
    }
  });

  it("writes the same file each time, beside the model by default, and reports progress", async () => {
    const model = at("tiny-f32.gguf");
    await writeFile(model, await readFile(await tinyModel()));
    const news: ImatrixProgress[] = [];
    const options = { contextLength, threads: 1, dataset: "words.txt", env };
    const first = await computeImatrix(model, text, { ...options, onProgress: (one) => news.push(one) });
    const second = await computeImatrix(model, text, { ...options, output: at("again.gguf") });
    expect(first.path).toBe(at("tiny-f32.imatrix.gguf"));
    expect(await readFile(second.path)).toEqual(await readFile(first.path));
    const totalChunks = first.chunks;
    expect(news).toEqual(Array.from({ length: totalChunks + 1 }, (_, chunks) => ({ chunks, totalChunks })));
    const { metadata } = await readGguf(first.path);
    expect(metadata.get("imatrix.datasets")).toEqual({ type: "string", values: ["words.txt"] });
    expect(metadata.get("imatrix.chunk_count")).toEqual({ type: "uint32", value: totalChunks });
  });

  it("refuses a text that is shorter than a chunk, and leaves no files behind", async () => {
    const pending = computeImatrix(await tinyModel(), "a few words", { output: at("imatrix.gguf"), env });
    await expect(pending).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/^text: It has \d+ tokens/),
      details: { param: "text" },
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it("stops at once when it is aborted, and leaves no files behind", async () => {
    const stop = new AbortController();
    const onProgress = ({ chunks }: ImatrixProgress): void => void (chunks > 0 && stop.abort());
    const options = { contextLength, output: at("imatrix.gguf"), env, onProgress, signal: stop.signal };
    await expect(computeImatrix(await tinyModel(), text, options)).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("an importance matrix", () => {
  it("allows quantizing a model to two bits, which then loads and generates", async () => {
    const model = await tinyModel({ architecture: "gemma3", embedding: 256, feedForward: 256 });
    const { path: imatrix } = await computeImatrix(model, text, {
      contextLength,
      chunks: 2,
      output: at("imatrix.gguf"),
      env,
    });
    const made = await quantizeModel(model, { to: "IQ2_XXS", imatrix, output: at("made.gguf"), env });
    const { metadata } = await readGguf(made.path);
    expect(metadata.get("quantize.imatrix.file")).toEqual({ type: "string", value: "imatrix.gguf" });
    await using loaded = await load(made.path, { threads: 1 });
    const reply = await loaded.model.generate({ prompt: "once upon a time", maxTokens: 8, temperature: 0 });
    expect(loaded.model.info.quantization).toBe("IQ2_XXS");
    expect(reply.usage.completionTokens).toBe(8);
  });

  it("in the older format, without GGUF, gives the same weights", async () => {
    const model = await writeSmallModel(at("small.gguf"));
    const imatrix = await writeSmallImatrix(at("imatrix.gguf"));
    await writeFile(at("older.dat"), await inOlderForm(imatrix));
    const quantize = async (output: string, file?: string): Promise<Buffer> => {
      const made = await quantizeModel(model, { to: "IQ4_NL", imatrix: file, output: at(output), env });
      const { bytes } = await readGguf(made.path);
      return (await readFile(made.path)).subarray(aligned(bytes));
    };
    const weights = await quantize("new.gguf", imatrix);
    expect(await quantize("old.gguf", at("older.dat"))).toEqual(weights);
    expect(await quantize("without.gguf")).not.toEqual(weights);
  });
});

/** The older format of llama.cpp's tool: for each matrix its name, the number of calls, and the means times that number. */
async function inOlderForm(file: string): Promise<Buffer> {
  const found = await numbersIn(file);
  const names = (await readGguf(file)).tensors.flatMap(({ name }) =>
    name.endsWith(".in_sum2") ? [name.slice(0, -8)] : [],
  );
  const int = (value: number): Buffer => Buffer.from(Int32Array.of(value).buffer);
  const parts = names.map((name) => {
    const sums = found(`${name}.in_sum2`);
    const means = sums.map((sum) => sum / found(`${name}.counts`)[0]!);
    return Buffer.concat([
      int(Buffer.byteLength(name)),
      Buffer.from(name),
      int(1),
      int(means.length),
      Buffer.from(means.buffer),
    ]);
  });
  return Buffer.concat([int(names.length), ...parts]);
}
