// Files with computed state: the key that tells whether they can be reused.
import { createHash, createHmac } from "node:crypto";
import { open } from "node:fs/promises";
import { buildInfo, type BuildInfo, type NativeEngineOptions } from "../native/addon.ts";
import { stateSecret } from "./state-secret.ts";

/**
 * Incremented when the native engine writes states in another way (engine-native's src/llama/context/context.cpp and src/engine/state_file.cpp).
 */
const stateFormat = 4;

/** A GGUF file starts with its metadata and the list of its tensors. */
const headBytes = 1024 * 1024;
/** Of the weights, only samples: reading gigabytes before the first token would cost what the file saves. */
const samples = 64;
const sampleBytes = 16 * 1024;

/** The settings that a state depends on, besides model and build. */
export type StateSettings = Pick<NativeEngineOptions, "kvTypeK" | "kvTypeV" | "flashAttention"> & {
  /** Further settings in one text. */
  others: string;
};

/** The key that a file must be written with to be reused by this model with these settings and this build. Throws as `stateSecret()`. */
export async function computeStateKey(modelPath: string, settings: StateSettings): Promise<Buffer> {
  const { llamaCpp } = await buildInfo();
  return stateKey(await stateSecret(), llamaCpp, await fingerprintModel(modelPath), settings);
}

/** The name of the file that keeps a model's cached sequences. Reveals nothing of the key. */
export function stateFileName(key: Buffer): string {
  return `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.state`;
}

/** Of the secret and of everything that determines the layout of a state: a state of another layout has another key. */
export function stateKey(
  secret: Buffer,
  { version, commit, sources }: BuildInfo["llamaCpp"],
  model: string,
  { kvTypeK, kvTypeV, flashAttention, others }: StateSettings,
): Buffer {
  const parts = [stateFormat, version, commit, sources, model, kvTypeK, kvTypeV, flashAttention, others];
  return createHmac("sha256", secret).update(JSON.stringify(parts)).digest();
}

/** Identifies a model by its size, its header and samples of its weights. */
async function fingerprintModel(modelPath: string): Promise<string> {
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
