// The host KV tier of a model: its size, and where it is kept between loads.
import path from "node:path";
import { EngineError } from "./errors.ts";
import { kvTypes } from "./kv-cache.ts";
import type { CheckedLoadOptions } from "./load.ts";
import { hostMemoryBytes } from "./memory.ts";
import type { NativeEngineOptions } from "./native.ts";
import { stateOptions } from "./native-device-options.ts";
import { stateFileIn } from "./state-file.ts";

/** The largest default size of the host KV tier: about 90,000 tokens of a model with a billion parameters. */
const cacheRamDefaultMaxMiB = 2048;
const mebibyte = 1024 * 1024;

/** Throws `invalid_request` for a folder without a tier. */
export async function keptState(
  modelPath: string,
  options: CheckedLoadOptions,
): Promise<Pick<NativeEngineOptions, "cacheRamBytes" | "stateFile" | "stateKey">> {
  const cacheRamBytes = (options.cacheRamMiB ?? cacheRamDefaultMiB()) * mebibyte;
  if (options.cacheDir === undefined) return { cacheRamBytes, stateFile: "", stateKey: new Uint8Array(32) };
  if (cacheRamBytes === 0) {
    throw new EngineError(
      "invalid_request",
      "cacheDir stores the state that cacheRamMiB keeps in memory: set cacheRamMiB to more than 0, or leave cacheDir out.",
      { details: { param: "cacheDir" } },
    );
  }
  const settings = {
    ...(await kvTypes(options)),
    flashAttention: options.flashAttention,
    others: stateOptions(options),
  };
  return { cacheRamBytes, ...(await stateFileIn(path.resolve(options.cacheDir), modelPath, settings)) };
}

function cacheRamDefaultMiB(): number {
  return Math.min(cacheRamDefaultMaxMiB, Math.floor(hostMemoryBytes() / 8 / mebibyte));
}
