// Loading: every problem with a file is an error with a code, and never crashes the process.
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, importModels, load } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { loadTiny } from "./tiny.ts";

async function rejectionCode(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no error";
  } catch (error) {
    return EngineError.is(error) ? error.code : String(error);
  }
}

describe("loading a model", () => {
  let folder = "";
  let whole: Buffer;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-load-"));
    whole = await readFile(await tinyModel());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function file(name: string, bytes: Uint8Array | string): Promise<string> {
    const target = path.join(folder, name);
    await writeFile(target, bytes);
    return target;
  }

  it("describes the model", async () => {
    await using loaded = await loadTiny();
    expect(loaded.model.info).toMatchObject({
      architecture: "llama",
      quantization: "F32",
      contextLengthTrain: 2048,
      contextLength: 2048,
      vocabularySize: 32_000,
      hasChatTemplate: true,
      parallel: 8,
      threads: 1,
    });
  });

  it("reports progress that never decreases and ends at 1", async () => {
    const seen: number[] = [];
    await using loaded = await loadTiny({ onProgress: (fraction) => seen.push(fraction) });
    expect(loaded.model.disposed).toBe(false);
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("accepts the name of an installed model, and a path with any extension", async () => {
    const home = path.join(folder, "home");
    vi.stubEnv("INGLE_HOME", home);
    vi.stubEnv("INGLE_OFFLINE", "1");
    await importModels(await tinyModel(), { alias: "daily" });
    await copyFile(await tinyModel(), path.join(folder, "blob"));
    for (const name of ["daily", path.join(folder, "blob"), path.relative("", path.join(folder, "blob"))]) {
      await using loaded = await load(name, { threads: 1, contextLength: 64 });
      expect(loaded.model.info.architecture).toBe("llama");
    }
    await using drafted = await load("daily", { threads: 1, contextLength: 64, draftModel: "daily" });
    expect((await drafted.model.generate({ prompt: "night", maxTokens: 8 })).usage.completionTokens).toBe(8);
    await expect(load("daily", { contextLength: 64, draftModel: "nobody" })).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringMatching(/draftModel: there is no file nobody.*ingle pull nobody/),
    });
    expect(await rejectionCode(load("nobody"))).toBe("model_not_found");
    expect(await rejectionCode(load("acme/unknown-GGUF"))).toBe("model_not_found");
    expect(await rejectionCode(load("x".repeat(1000)))).toBe("model_not_found");
    vi.unstubAllEnvs();
  });

  it("throws model_not_found for a missing file and for a folder", async () => {
    expect(await rejectionCode(load(path.join(folder, "nowhere.gguf")))).toBe("model_not_found");
    expect(await rejectionCode(load(folder))).toBe("model_not_found");
  });

  it("throws model_invalid for a file that is not GGUF, an empty file, and an unknown version", async () => {
    expect(
      await rejectionCode(
        load(await file("text.gguf", "This is a text and not a model, whatever its name says.")),
      ),
    ).toBe("model_invalid");
    expect(await rejectionCode(load(await file("empty.gguf", "")))).toBe("model_invalid");
    const future = Buffer.from(whole.subarray(0, 4096));
    future.writeUInt32LE(99, 4);
    expect(await rejectionCode(load(await file("future.gguf", future)))).toBe("model_invalid");
  });

  it("throws model_invalid for a truncated file, wherever it ends", async () => {
    for (const share of [0.000_01, 0.001, 0.05, 0.2, 0.5, 0.9, 0.999_99]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      await expect(
        load(await file("cut.gguf", cut), { threads: 1 }),
        `cut at ${share}`,
      ).rejects.toMatchObject({
        code: "model_invalid",
        message: expect.not.stringContaining("llama_model_loader"),
      });
    }
  });

  it("throws model_invalid if the header claims more entries than the file can hold", async () => {
    const lying = Buffer.from(whole);
    lying.writeBigUInt64LE(2n ** 60n, 8);
    expect(await rejectionCode(load(await file("lying.gguf", lying)))).toBe("model_invalid");
  });

  it("throws model_unsupported with the name of an unknown architecture", async () => {
    const odd = Buffer.from(whole);
    const at = odd.indexOf("llama", odd.indexOf("general.architecture") + 20);
    odd.write("lxama", at);
    const loading = load(await file("odd.gguf", odd));
    await expect(loading).rejects.toMatchObject({ code: "model_unsupported" });
    await expect(loading).rejects.toThrow("lxama");
  });

  it("throws out_of_memory with the numbers if the context cannot fit into memory", async () => {
    const loading = load(await tinyModel({ contextLength: 2 ** 27, layers: 8 }), {
      contextLength: 2 ** 27,
      parallel: 1,
      threads: 1,
    });
    await expect(loading).rejects.toMatchObject({ code: "out_of_memory" });
    await expect(loading).rejects.toThrow(/GiB/);
  });

  it("refuses invalid options by name", async () => {
    const model = await tinyModel();
    await expect(load(model, { parallel: 0 })).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "parallel" },
    });
    await expect(load(model, { contextLength: 4096 })).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "contextLength", contextLengthTrain: 2048 },
    });
    await expect(load(model, { kvTypeK: "q9_9" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("rejects with the signal's reason if it is aborted before or while the file is read", async () => {
    const model = await tinyModel();
    const before = new Error("changed my mind");
    await expect(load(model, { signal: AbortSignal.abort(before) })).rejects.toBe(before);

    const controller = new AbortController();
    const during = new Error("too slow");
    const loading = load(model, { signal: controller.signal, threads: 1 });
    setImmediate(() => controller.abort(during));
    await expect(loading).rejects.toBe(during);
  });

  it("frees all memory when a model is loaded and freed many times", async () => {
    const rounds = async (count: number): Promise<number> => {
      for (let round = 0; round < count; round += 1) {
        await using loaded = await loadTiny({ contextLength: 256 });
        await loaded.model.generate({ prompt: "again", maxTokens: 2 });
      }
      return process.memoryUsage().rss;
    };
    await rounds(5);
    const before = process.memoryUsage().rss;
    const after = await rounds(30);
    expect(after - before).toBeLessThan(64 * 1024 * 1024);
  });
});
