// Checks the files of adapters, and compares them with their model's file, before native code reads them: llama.cpp asserts some of
// this while it computes, and the rest would silently change nothing.
import {
  GgufError,
  getNumber,
  readGguf,
  getString,
  tensorTypes,
  type GgufHeader,
  type GgufTensorInfo,
} from "@ingle/gguf";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { EngineError, invalidRequest } from "../../base/errors.ts";
import { partNames } from "../gguf-files.ts";
import type { NativeLoadOptions } from "../../native/addon.ts";
import { adapterGguf } from "./adapter-folder.ts";
import type { AdapterLayers, AdapterOption } from "../../generate/adapter-options.ts";
import {
  directionBytes,
  isControlVector,
  controlVectorLayers,
  readDirections,
  readSizes,
  type ModelSizes,
  damaged,
  mismatch,
  unsupported,
} from "./control-vector.ts";

/** The largest rank; usual ones are 8 to 128. */
const adapterRankMax = 1024;

/** The most bytes of one adapter's tensors. A rank of 128 for a model with 70 billion parameters takes half of it. */
export const adapterBytesMax = 4 * 1024 ** 3;

/** The types that adapters are converted to, and that llama.cpp multiplies on every device. */
const typesAllowed: ReadonlySet<string> = new Set(["F32", "F16", "BF16", "Q8_0"]);

export interface CheckedAdapter {
  name: string;
  path: string;
  header: GgufHeader;
  kind: "lora" | "control-vector";
  /** Of memory that it takes. */
  bytes: number;
}

/** A model's header, from all of its parts. */
interface Base extends ModelSizes {
  tensors: ReadonlyMap<string, GgufTensorInfo>;
}

/**
 * Checks the adapters of a model, and converts those in folders first. Throws as `adapterGguf`, `model_not_found` or `model_invalid` (a file that is missing or damaged), `model_unsupported`
 * (no adapter, or one that changes what cannot be changed), `adapter_mismatch` (for another model).
 */
export async function checkAdapters(
  modelFile: string,
  adapters: readonly AdapterOption[],
  env?: NodeJS.ProcessEnv,
): Promise<CheckedAdapter[]> {
  if (adapters.length === 0) return [];
  return await checkAll(await readBase(modelFile), modelFile, adapters, env);
}

async function checkAll(
  base: Base,
  modelFile: string,
  adapters: readonly AdapterOption[],
  env?: NodeJS.ProcessEnv,
): Promise<CheckedAdapter[]> {
  const checked: CheckedAdapter[] = [];
  for (const { name, path: given } of adapters) {
    const file = await adapterGguf(given, modelFile, env);
    const header = await readHeader(file, "adapter");
    if (isControlVector(header.metadata)) {
      controlVectorLayers(file, header, base);
      checked.push({ name, path: file, header, kind: "control-vector", bytes: directionBytes(base) });
    } else {
      checkLora(file, header, base);
      checked.push({
        name,
        path: file,
        header,
        kind: "lora",
        bytes: checkTensors(file, header.tensors, base),
      });
    }
  }
  return checked;
}

/** Adapters for the addon, checked and read once for their identities. Throws as `checkAdapters`, and `invalid_request` with workers. */
export async function nativeAdapters(
  modelFile: string,
  {
    adapters,
    controlVectorLayers: range,
    rpc,
  }: {
    adapters: readonly AdapterOption[];
    controlVectorLayers?: AdapterLayers | undefined;
    rpc?: object | undefined;
  },
): Promise<NativeLoadOptions["adapters"]> {
  if (adapters.length === 0) return [];
  if (rpc !== undefined)
    throw invalidRequest("adapters", "models over workers (rpc) have no adapters: leave one of the two out.");
  const model = await readBase(modelFile);
  const native: NativeLoadOptions["adapters"] = [];
  for (const { path: file, header, kind } of await checkAll(model, modelFile, adapters)) {
    const identity = await hashFile(file);
    if (kind === "lora") native.push({ path: file, identity, directions: [] });
    else {
      const directions = await readDirections(file, header, { model, range });
      const within = range === undefined ? "" : `:${range.first}-${range.last}`;
      native.push({ path: file, identity: identity + within, directions });
    }
  }
  return native;
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex").slice(0, 32);
}

async function readBase(modelFile: string): Promise<Base> {
  const folder = path.dirname(modelFile);
  const headers: GgufHeader[] = [];
  for (const name of partNames(path.basename(modelFile)))
    headers.push(await readHeader(path.join(folder, name), "model"));
  return {
    ...readSizes(headers[0]?.metadata ?? new Map()),
    tensors: new Map(headers.flatMap(({ tensors }) => tensors.map((tensor) => [tensor.name, tensor]))),
  };
}

async function readHeader(file: string, kind: "adapter" | "model"): Promise<GgufHeader> {
  try {
    return await readGguf(file, { isLenient: true });
  } catch (cause) {
    if (cause instanceof GgufError)
      throw new EngineError("model_invalid", `${file} cannot be read: ${cause.message}`, { cause });
    throw new EngineError("model_not_found", `The ${kind} ${file} does not exist or cannot be read.`, {
      cause,
    });
  }
}

function checkLora(file: string, { metadata }: GgufHeader, { architecture }: Base): void {
  const kind = getString(metadata, "adapter.type");
  if (getString(metadata, "general.type") !== "adapter" || kind !== "lora") {
    throw new EngineError(
      "model_unsupported",
      `${file} is no adapter. Name a GGUF file with a LoRA adapter or a control vector, or a folder that PEFT or mlx-lm wrote.`,
    );
  }
  const own = getString(metadata, "general.architecture");
  if (own !== architecture)
    throw mismatch(file, `it is for ${String(own)} models, and the model is ${String(architecture)}`);
  const hasAlpha = metadata.has("adapter.lora.alpha");
  if (hasAlpha && !Number.isFinite(getNumber(metadata, "adapter.lora.alpha", "float32")))
    throw damaged(file, "adapter.lora.alpha is no number");
  if (metadata.has("adapter.alora.invocation_tokens"))
    throw unsupported(file, "it is an activated LoRA, which works only after certain tokens");
}

/** Returns the bytes of all tensors. */
function checkTensors(file: string, tensors: readonly GgufTensorInfo[], base: Base): number {
  const own = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name } of tensors) {
    const [, target, side] = /^(.+\.weight)\.lora_([ab])$/.exec(name) ?? [];
    if (target === undefined) {
      if (name.endsWith("_norm.weight")) throw unsupported(file, `it changes the norm ${name}`);
      throw damaged(file, `the tensor ${name} is not part of a LoRA adapter`);
    }
    if (side === "a") checkPair(file, target, { own, base });
    else if (!own.has(`${target}.lora_a`)) throw damaged(file, `${target} has no lora_a`);
  }
  if (tensors.length === 0) throw damaged(file, "it has no tensors");
  const bytes = tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > adapterBytesMax) throw unsupported(file, `its tensors take more than ${adapterBytesMax} bytes`);
  return bytes;
}

function checkPair(
  file: string,
  target: string,
  { own, base }: { own: ReadonlyMap<string, GgufTensorInfo>; base: Base },
): void {
  const a = own.get(`${target}.lora_a`);
  const b = own.get(`${target}.lora_b`);
  if (a === undefined || b === undefined) throw damaged(file, `${target} has no lora_b`);
  for (const { name, typeCode } of [a, b]) {
    const type = tensorTypes.get(typeCode)?.name ?? "unknown";
    if (!typesAllowed.has(type)) throw unsupported(file, `${name} has the type ${type}`);
  }
  const changed = base.tensors.get(target);
  if (changed === undefined) throw mismatch(file, `it changes ${target}, which the model does not have`);
  const rank = b.shape[0] ?? 0;
  if (rank < 1 || rank > adapterRankMax)
    throw unsupported(file, `the rank of ${target} is not from 1 to ${adapterRankMax}`);
  if (changed.shape.length < 2) throw unsupported(file, `it changes ${target}, which is no matrix`);
  const [columns, rows, ...stack] = changed.shape;
  const isEmbedding = target === "token_embd.weight";
  // llama.cpp would use the adapter for the output too, in the wrong orientation.
  if (isEmbedding && !base.tensors.has("output.weight"))
    throw unsupported(file, "it changes token embeddings that are the output matrix too");
  const [shapeA, shapeB] = isEmbedding
    ? [
        [rank, rows],
        [rank, columns],
      ]
    : [
        [columns, rank, ...stack],
        [rank, rows, ...stack],
      ];
  if (String(a.shape) !== String(shapeA) || String(b.shape) !== String(shapeB)) {
    const shapes = `${a.shape.join(" x ")} and ${b.shape.join(" x ")}`;
    throw mismatch(file, `the shapes for ${target}, ${shapes}, do not fit its ${changed.shape.join(" x ")}`);
  }
}
