// quantize and imatrix as commands: what they pass to the engine and what they print.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, type QuantizeOptions } from "@ingle/engine";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld, type TestWorld } from "../../../test/cli-context.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";

let folder: string;
let model: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-quantize-"));
  model = path.join(folder, "my-f16.gguf");
  await writeFile(model, fakeGguf({ dataBytes: 1000 }));
});
afterEach(() => rm(folder, { recursive: true }));

function world(overrides: Partial<Engine>, options: { isTTY?: boolean } = {}): TestWorld {
  const env = { HOME: folder, INGLE_HOME: path.join(folder, "ingle") };
  return testWorld({ ...options, env, engine: scriptedEngine({}, overrides) });
}

/** Writes a small file, and reports progress. */
const quantizeModel: Engine["quantizeModel"] = async (_model, options) => {
  const { to = "Q4_K_M", onProgress } = options ?? {};
  const made = path.join(folder, `my-${to}.gguf`);
  await writeFile(made, fakeGguf({ dataBytes: 300 }));
  onProgress?.({ bytes: 512, totalBytes: 1024, tensor: "blk.0.attn_q.weight" });
  return { path: made, quantization: to, sizeBytes: 1024, sizeBytesBefore: 4096, bitsPerWeight: 4.832 };
};

describe("ingle quantize", () => {
  it("prints the new file alone on stdout, and on stderr what it is and how to use it", async () => {
    const { context, out, err } = world({ quantizeModel });
    expect(await main("ingle", ["quantize", model], context)).toBe(0);
    expect(out()).toBe(`${path.join(folder, "my-Q4_K_M.gguf")}\n`);
    expect(err()).toContain("Quantizing my-f16 …\n");
    expect(err()).toMatch(/quantization +Q4_K_M, 4\.83 bits per weight\n/);
    expect(err()).toMatch(/size +1 KiB, from 4 KiB\n/);
    expect(err()).toMatch(/model +my-Q4_K_M\n/);
    expect(err()).toContain("\n  ingle serve --model my-Q4_K_M\n");
    const list = world({});
    await main("ingle", ["list"], list.context);
    expect(list.out()).toContain("my-Q4_K_M");
  });

  it("draws a bar on a terminal", async () => {
    const { context, err } = world({ quantizeModel }, { isTTY: true });
    await main("ingle", ["quantize", model], context);
    expect(err()).toContain("Quantizing my-f16 [");
  });

  it("passes its flags to the engine", async () => {
    const asked: QuantizeOptions[] = [];
    const { context } = world({
      quantizeModel: async (file, options = {}) => {
        asked.push(options);
        return await quantizeModel(file, options);
      },
    });
    const flags = ["--to", "q6_k", "--imatrix", "i.gguf", "--allow-requantize", "--force", "--threads", "2"];
    await main("ingle", ["quantize", model, "out.gguf", ...flags], context);
    expect(asked).toMatchObject([
      {
        to: "q6_k",
        output: "out.gguf",
        imatrix: "i.gguf",
        allowRequantize: true,
        overwrite: true,
        threads: 2,
        signal: context.shutdown.signal,
      },
    ]);
  });

  it("says so if the list has another model of this name, and prints the path instead", async () => {
    const registerModel = async () => {
      throw new EngineError("invalid_request", "There is a model called my-Q4_K_M already.");
    };
    const { context, err } = world({ quantizeModel, registerModel });
    expect(await main("ingle", ["quantize", model], context)).toBe(0);
    expect(err()).toContain("not in `ingle list`");
    expect(err()).toContain(`ingle serve --model ${path.join(folder, "my-Q4_K_M.gguf")}\n`);
  });

  it("lists the quantizations after an unknown one, as wrong usage", async () => {
    const { context, err } = testWorld({ env: { HOME: folder, INGLE_HOME: folder } });
    expect(await main("ingle", ["quantize", model, "--to", "Q4"], context)).toBe(2);
    expect(err()).toMatch(/--to: unknown quantization "Q4"\. Use one of .*Q4_K_M.*IQ2_XXS/);
  });

  it("ends with 130 at Ctrl-C", async () => {
    const { context, err, signals, errHas } = world({
      quantizeModel: (_model, { signal } = {}) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
    });
    const exit = main("ingle", ["quantize", model], context);
    await errHas("Quantizing");
    signals.emit("SIGINT");
    expect(await exit).toBe(130);
    expect(err()).toContain("ingle: Stopped.\n");
  });
});

describe("ingle imatrix", () => {
  it("reads the text, and prints how to use the file", async () => {
    const text = path.join(folder, "text.txt");
    await writeFile(text, "some words");
    const asked: unknown[] = [];
    const { context, out, err } = world({
      computeImatrix: async (file, words, options) => {
        asked.push({ file, words, ...options });
        return { path: path.join(folder, "my.imatrix.gguf"), chunks: 3, contextLength: 64, matrices: 7 };
      },
    });
    const flags = ["--text", text, "-o", "x.gguf", "--chunks", "3", "--ctx", "64"];
    expect(await main("ingle", ["imatrix", model, ...flags], context)).toBe(0);
    expect(asked).toMatchObject([
      {
        file: model,
        words: "some words",
        output: "x.gguf",
        chunks: 3,
        contextLength: 64,
        dataset: "text.txt",
      },
    ]);
    expect(out()).toBe(`${path.join(folder, "my.imatrix.gguf")}\n`);
    expect(err()).toMatch(/text +3 chunks of 64 tokens\n/);
    expect(err()).toContain(`ingle quantize ${model} --to IQ2_XXS --imatrix`);
  });

  it("requires a text that exists", async () => {
    const { context, err } = world({});
    expect(await main("ingle", ["imatrix", model, "--text", path.join(folder, "none.txt")], context)).toBe(2);
    expect(err()).toContain("none.txt does not exist");
    expect(await main("ingle", ["imatrix", model], context)).toBe(2);
  });
});
