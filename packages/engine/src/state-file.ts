// The file that keeps a model's computed conversations from one process to the next, and what must be the same for them to
// be of use again. Used by load.ts.
import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "./errors.ts";
import { buildInfo, type BuildInfo, type NativeEngineOptions } from "./native.ts";

/** Counts up when the native engine writes a state in another way (engine-native's src/llama/context/context.cpp, host_memory.h). */
const stateFormat = 2;

/** A GGUF file begins with its metadata and the list of its tensors. */
const headBytes = 1024 * 1024;
/** Beyond that, samples of the weights: reading gigabytes before the first token would cost what the file saves. */
const samples = 64;
const sampleBytes = 16 * 1024;

/** What a state depends on, beside model and build. */
export type StateSettings = Pick<NativeEngineOptions, "kvTypeK" | "kvTypeV" | "flashAttention">;

/** The name of the model's file in `folder`, which is made, and the key that it must begin with. */
export async function stateFileIn(
  folder: string,
  modelPath: string,
  { kvTypeK, kvTypeV, flashAttention }: StateSettings,
): Promise<Pick<NativeEngineOptions, "stateFile" | "stateKey">> {
  const model = await fingerprintOf(modelPath);
  const key = stateKey((await buildInfo()).llamaCpp, model, { kvTypeK, kvTypeV, flashAttention });
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new EngineError("invalid_request", `cacheDir: ${folder} cannot be made.`, {
      cause: error,
      details: { param: "cacheDir" },
    });
  }
  return { stateFile: path.join(folder, `${key.toString("hex").slice(0, 32)}.state`), stateKey: key };
}

/** Stands for all that must be the same for a state to be of use: a changed layout of the KV cache is another key. */
export function stateKey(
  { version, commit, sources }: BuildInfo["llamaCpp"],
  model: string,
  { kvTypeK, kvTypeV, flashAttention }: StateSettings,
): Buffer {
  const parts = [stateFormat, version, commit, sources, model, kvTypeK, kvTypeV, flashAttention];
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** Tells models apart by their size, their heads and samples of their weights. */
async function fingerprintOf(modelPath: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(modelPath);
  try {
    const { size } = await file.stat();
    hash.update(String(size));
    const buffer = Buffer.alloc(headBytes);
    const add = async (length: number, position: number): Promise<void> => {
      const { bytesRead } = await file.read(buffer, 0, length, position);
      hash.update(buffer.subarray(0, bytesRead));
    };
    await add(headBytes, 0);
    for (let sample = 1; sample <= samples; sample += 1) {
      await add(sampleBytes, Math.max(0, Math.floor((size * sample) / samples) - sampleBytes));
    }
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}
