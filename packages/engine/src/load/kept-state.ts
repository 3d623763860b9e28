// The host KV tier of a model: its size, and the folders where its state is kept.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { kvTypes } from "./kv-cache.ts";
import type { CheckedLoadOptions } from "./load-options.ts";
import { hostMemoryBytes } from "../machine/memory.ts";
import type { NativeEngineOptions } from "../native/addon.ts";
import { stateFileName, computeStateKey } from "./state-file.ts";
import { resolveUserPath } from "../base/home.ts";

/** The largest default size of the host KV tier: about 90,000 tokens of a model with a billion parameters. */
const cacheRamDefaultMaxMiB = 2048;
const mebibyte = 1024 * 1024;

/** `others`: further settings that a state depends on (`StateSettings`). Throws `invalid_request` for a folder without a tier. */
export async function keptState(
  modelPath: string,
  options: CheckedLoadOptions,
  others: string,
): Promise<Pick<NativeEngineOptions, "cacheRamBytes" | "stateFile" | "stateKey" | "slotDir">> {
  const cacheRamBytes = (options.cacheRamMiB ?? cacheRamDefaultMiB()) * mebibyte;
  const { cacheDir, slotDir } = options;
  if (cacheDir === undefined && slotDir === undefined)
    return { cacheRamBytes, stateFile: "", stateKey: new Uint8Array(32), slotDir: "" };
  if (cacheRamBytes === 0) {
    const param = cacheDir === undefined ? "slotDir" : "cacheDir";
    throw new EngineError(
      "invalid_request",
      `${param} stores the state that cacheRamMiB keeps in memory: set cacheRamMiB to more than 0, or leave ${param} out.`,
      { details: { param } },
    );
  }
  const settings = {
    ...(await kvTypes(options)),
    flashAttention: options.flashAttention,
    others,
  };
  const stateKey = await computeStateKey(modelPath, settings);
  return {
    cacheRamBytes,
    stateKey,
    stateFile:
      cacheDir === undefined
        ? ""
        : path.join(await createdFolder("cacheDir", cacheDir), stateFileName(stateKey)),
    slotDir: slotDir === undefined ? "" : await createdFolder("slotDir", slotDir),
  };
}

/** The absolute path of a folder that only its owner may use, unless it existed. */
async function createdFolder(param: string, folder: string): Promise<string> {
  const absolute = resolveUserPath(folder);
  try {
    await mkdir(absolute, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw invalidRequest(param, `${absolute} cannot be created.`, error);
  }
  return absolute;
}

function cacheRamDefaultMiB(): number {
  return Math.min(cacheRamDefaultMaxMiB, Math.floor(hostMemoryBytes() / 8 / mebibyte));
}
