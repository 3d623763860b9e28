// A model's projector, the file with which it reads images or audio: checks its header before native code reads it.
import { GgufError, readGguf, type GgufMetadata, type GgufTensorInfo, readGgufKeys } from "@ingle/gguf";
import { EngineError, invalidRequest } from "../base/errors.ts";
import type { NativeLoadOptions } from "../native/addon.ts";
import { resolveUserPath } from "../base/home.ts";
import { cachedByFile } from "./cached-by-file.ts";

interface ProjectorOptions {
  mmproj?: string | null | undefined;
  imageMinTokens?: number | undefined;
  imageMaxTokens?: number | undefined;
}

/** Header values of an encoder from which sizes are computed, and their bounds: twice those of the largest known projectors. */
const encoderBounds = {
  embedding_length: [1, 16_384],
  "attention.head_count": [1, 512],
  feed_forward_length: [0, 131_072],
  block_count: [0, 256],
  projection_dim: [0, 65_536],
  "attention.layer_norm_epsilon": [0, 1],
} as const;

/** The two encoders that a projector may have: the prefixes of their keys, and of their tensors. */
const encoders = [
  ["clip.vision.", "v.blk."],
  ["clip.audio.", "a.blk."],
] as const;

/** LFM2-Audio has a position for two frames of 10 milliseconds. */
const positionsPerSecond = 50;
const positionTensor = "a.position_embd.weight";

/** The same for values that only one of them has. */
const bounds = {
  "clip.vision.image_size": [0, 8192],
  "clip.vision.patch_size": [1, 1024],
  "clip.vision.projector.scale_factor": [1, 64],
  "clip.vision.spatial_merge_size": [1, 64],
  "clip.vision.preproc_min_tiles": [1, 1024],
  "clip.vision.preproc_max_tiles": [1, 1024],
  "clip.vision.n_wa_pattern": [0, 256],
  "clip.audio.num_mel_bins": [1, 4096],
  "clip.audio.projector.stack_factor": [1, 64],
  "clip.audio.subsampling_factor": [1, 64],
  "clip.audio.conv_kernel_size": [1, 256],
  "clip.audio.chunk_size": [1, 4096],
  "clip.audio.max_pos_emb": [1, 65_536],
  "clip.audio.window_size": [0, 65_536],
  "clip.audio.projector.window_size": [1, 4096],
  "clip.audio.projector.downsample_rate": [1, 4096],
  "clip.audio.projector.head_count": [1, 512],
  "clip.audio.rvq.num_quantizers": [1, 256],
  "clip.audio.local_block_count": [0, 256],
  "clip.audio.local_group_size": [1, 256],
} as const;

/**
 * The projector's native options; null if there is no projector. Throws `model_not_found`, `model_invalid`, `model_unsupported` (no
 * projector for images or audio) or `invalid_request`.
 */
export async function nativeProjector(
  { mmproj, imageMinTokens = 0, imageMaxTokens = 0 }: ProjectorOptions,
  threads: number,
): Promise<NativeLoadOptions["projector"]> {
  if (mmproj === undefined || mmproj === null) {
    if (imageMinTokens === 0 && imageMaxTokens === 0) return null;
    const param = imageMinTokens > 0 ? "imageMinTokens" : "imageMaxTokens";
    throw invalidRequest(
      param,
      "a model without a projector cannot read images; give its projector as mmproj.",
    );
  }
  if (imageMaxTokens > 0 && imageMinTokens > imageMaxTokens)
    throw invalidRequest("imageMinTokens", "it is more than imageMaxTokens.");
  const file = resolveUserPath(mmproj);
  const { metadata, tensors } = await readHeader(file);
  const positions = audioPositions(metadata, tensors);
  const wrong =
    findWrongValue(metadata) ??
    wrongShape(metadata, tensors) ??
    // llama.cpp reads its width without looking whether it is there.
    (positions === 0 ? `it has no ${positionTensor}` : undefined);
  if (wrong !== undefined)
    throw new EngineError("model_invalid", `${file} is damaged: ${wrong}. Download it again.`);
  const audioSecondsMax = Math.floor((positions ?? 0) / positionsPerSecond);
  return { path: file, threads, imageMinTokens, imageMaxTokens, audioSecondsMax };
}

/** The positions of LFM2-Audio's encoder; undefined for others, whose audio may have any length. */
function audioPositions(metadata: GgufMetadata, tensors: readonly GgufTensorInfo[]): number | undefined {
  const type =
    singleValue(metadata, "clip.audio.projector_type") ?? singleValue(metadata, "clip.projector_type");
  if (type !== "lfm2a") return undefined;
  return tensors.find(({ name }) => name === positionTensor)?.shape[1] ?? 0;
}

async function readHeader(file: string): ReturnType<typeof readGguf> {
  try {
    const header = await readGguf(file, { isLenient: true });
    const isClip = singleValue(header.metadata, "general.architecture") === "clip";
    const { readsImages, readsAudio } = traitsOfHeader(header.metadata);
    if (isClip && (readsImages || readsAudio)) return header;
  } catch (error) {
    if (error instanceof GgufError)
      throw new EngineError("model_invalid", `${file} cannot be read: ${error.message}`, { cause: error });
    throw new EngineError("model_not_found", `The projector ${file} does not exist or cannot be read.`, {
      cause: error,
    });
  }
  throw new EngineError(
    "model_unsupported",
    `${file} is not a projector for images or audio. Use the mmproj file that came with the model.`,
  );
}

/** The first wrong value of a header; undefined if there is none. */
function findWrongValue(metadata: GgufMetadata): string | undefined {
  for (const [key, [min, max]] of [...Object.entries(bounds), ...encoders.flatMap(prefixedBounds)]) {
    const value = singleValue(metadata, key);
    if (value === undefined) continue;
    if (typeof value !== "number" || value < min || value > max) return `${key} is not from ${min} to ${max}`;
  }
  const tilesMin = singleValue(metadata, "clip.vision.preproc_min_tiles") ?? 1;
  const tilesMax = singleValue(metadata, "clip.vision.preproc_max_tiles") ?? 12;
  if (tilesMin > tilesMax) return "its minimum of tiles is more than its maximum";
  for (const [prefix] of encoders) {
    const heads = singleValue(metadata, `${prefix}attention.head_count`);
    const width = singleValue(metadata, `${prefix}embedding_length`);
    if (typeof heads === "number" && typeof width === "number" && width % heads !== 0)
      return "its width is not a multiple of its number of heads";
  }
  if (!listedNumbers(metadata, "clip.vision.image_mean").every(Number.isFinite))
    return "clip.vision.image_mean has a value that is not a number";
  // Colors are divided by it.
  if (!listedNumbers(metadata, "clip.vision.image_std").every((value) => Number.isFinite(value) && value > 0))
    return "clip.vision.image_std is not more than 0";
  return undefined;
}

function prefixedBounds([prefix]: (typeof encoders)[number]): [string, readonly [number, number]][] {
  return Object.entries(encoderBounds).map(([key, range]) => [prefix + key, range]);
}

/** The dimension of each of a block's tensors that must equal the header's embedding length. */
const sideOfWidth: Readonly<Record<string, number>> = {
  "attn_q.weight": 0,
  "attn_k.weight": 0,
  "attn_v.weight": 0,
  "attn_out.weight": 1,
  "attn_out.bias": 0,
  "ln1.weight": 0,
  "ln1.bias": 0,
  "ln2.weight": 0,
  "ln2.bias": 0,
};

/** llama.cpp does not compare the tensors of a projector with its header, and aborts the process if they differ. */
function wrongShape(metadata: GgufMetadata, tensors: readonly GgufTensorInfo[]): string | undefined {
  for (const [prefix, block] of encoders) {
    const width = singleValue(metadata, `${prefix}embedding_length`);
    for (const { name, shape } of tensors) {
      if (!name.startsWith(block)) continue;
      const side = sideOfWidth[name.split(".").slice(3).join(".")];
      if (side !== undefined && shape[side] !== width)
        return `the shape of ${name} is not that of its header`;
    }
  }
  return undefined;
}

/** A single value of a header; undefined if it is missing or a list. */
function singleValue(metadata: GgufMetadata, key: string): number | bigint | string | boolean | undefined {
  const found = metadata.get(key);
  return found === undefined || !("value" in found) ? undefined : found.value;
}

/** The numbers of a list; empty if it is missing. */
function listedNumbers(metadata: GgufMetadata, key: string): readonly number[] {
  const found = metadata.get(key);
  if (found === undefined || !("values" in found)) return [];
  return found.values.filter((value) => typeof value === "number");
}

export interface ProjectorTraits {
  readsImages: boolean;
  readsAudio: boolean;
}

const readCached = cachedByFile(async (file) => traitsOfHeader(await readGgufKeys(file, isNeeded)));

/** Of a model without a projector (null) or with this one. One that cannot be read counts as one for images: loading it reports the reason. */
export async function projectorTraits(file: string | null | undefined): Promise<ProjectorTraits> {
  if (file === null || file === undefined) return { readsImages: false, readsAudio: false };
  return (await readCached(file)) ?? { readsImages: true, readsAudio: false };
}

function traitsOfHeader(metadata: GgufMetadata): ProjectorTraits {
  return {
    readsImages: isTrue(metadata, "clip.has_vision_encoder"),
    readsAudio: isTrue(metadata, "clip.has_audio_encoder"),
  };
}

function isNeeded(key: string): boolean {
  return key.startsWith("clip.has_");
}

function isTrue(metadata: GgufMetadata, key: string): boolean {
  const found = metadata.get(key);
  return found !== undefined && "value" in found && found.value === true;
}
