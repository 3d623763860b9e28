// Control vectors: GGUF files with one direction for each of some layers, which is added to what the layer gives. The files are read
// here, so native code only gets numbers.
import { open } from "node:fs/promises";
import { aligned, getNumber, getString, tensorTypes, type GgufHeader, type GgufMetadata } from "@ingle/gguf";
import type { AdapterLayers } from "../../generate/adapter-options.ts";
import { EngineError } from "../../base/errors.ts";

/** The value of `general.architecture`, as llama.cpp and repeng write it. */
const architecture = "controlvector";

/** Models that generate text, but whose layers llama.cpp adds nothing to. */
export const unsteerableArchitectures: ReadonlySet<string> = new Set(["hy_v4", "plamo2"]);

/** The sizes of a model that a control vector must fit. */
export interface ModelSizes {
  architecture: string | undefined;
  layers: number;
  /** Of the states between layers. */
  width: number;
}

export function isControlVector(metadata: GgufMetadata): boolean {
  return getString(metadata, "general.architecture") === architecture;
}

export function readSizes(metadata: GgufMetadata): ModelSizes {
  const name = getString(metadata, "general.architecture");
  const size = (key: string): number => getNumber(metadata, `${name}.${key}`, "uint32") ?? 0;
  return { architecture: name, layers: size("block_count"), width: size("embedding_length") };
}

/**
 * The number of the layer that each tensor is for, in the order of the tensors. Layers count from 0, and the first has none. Throws
 * `model_invalid`, `model_unsupported` or `adapter_mismatch`.
 */
export function controlVectorLayers(file: string, { tensors }: GgufHeader, model: ModelSizes): number[] {
  if (unsteerableArchitectures.has(model.architecture ?? ""))
    throw unsupported(file, `models of the architecture ${model.architecture} take no control vectors`);
  if (tensors.length === 0) throw damaged(file, "it has no tensors");
  return tensors.map(({ name, typeCode, shape }) => {
    const [, digits] = /^direction\.(\d{1,6})$/.exec(name) ?? [];
    if (digits === undefined) throw damaged(file, `the tensor ${name} is not part of a control vector`);
    const layer = Number(digits);
    if (layer === 0) throw damaged(file, `${name} is for the first layer, which takes no direction`);
    if (layer >= model.layers)
      throw mismatch(file, `it changes layer ${layer}, and the model's last one is ${model.layers - 1}`);
    const type = tensorTypes.get(typeCode)?.name ?? "unknown";
    if (type !== "F32") throw unsupported(file, `${name} has the type ${type}`);
    if (String(shape) !== String([model.width])) {
      const sides = shape.join(" x ");
      throw mismatch(file, `${name} has ${sides} values, and the model's layers have ${model.width}`);
    }
    return layer;
  });
}

/** The memory for the directions of all layers: the model has them, and its context has those in use. */
export function directionBytes({ layers, width }: ModelSizes): number {
  return 2 * 4 * Math.max(layers - 1, 0) * width;
}

/**
 * What is added in each layer from the second on, one after another: 0 where the vector has no direction, and outside of `range`.
 * `header` was checked. Throws `adapter_mismatch` if nothing is left.
 */
export async function readDirections(
  file: string,
  header: GgufHeader,
  { model, range }: { model: ModelSizes; range: AdapterLayers | undefined },
): Promise<number[]> {
  const layers = controlVectorLayers(file, header, model);
  const isWithin = (layer: number): boolean =>
    range === undefined || (layer >= range.first && layer <= range.last);
  if (!layers.some(isWithin))
    throw mismatch(file, `it changes none of the layers ${range?.first} to ${range?.last}`);
  const { width } = model;
  const directions = new Float32Array((model.layers - 1) * width);
  const start = aligned(header.bytes, getNumber(header.metadata, "general.alignment", "uint32"));
  const handle = await open(file, "r");
  try {
    for (const [at, { name, offset }] of header.tensors.entries()) {
      const layer = layers[at] ?? 0;
      if (!isWithin(layer)) continue;
      const target = directions.subarray((layer - 1) * width, layer * width);
      const { bytesRead } = await handle.read(asBytes(target), 0, target.byteLength, start + offset);
      if (bytesRead < target.byteLength) throw damaged(file, `${name} is cut off`);
      if (!target.every(Number.isFinite)) throw damaged(file, `${name} has values that are no numbers`);
    }
  } finally {
    await handle.close();
  }
  return [...directions];
}

function asBytes({ buffer, byteOffset, byteLength }: Float32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

export function damaged(file: string, reason: string): EngineError {
  return new EngineError("model_invalid", `${file} is damaged: ${reason}. Download or convert it again.`);
}

export function unsupported(file: string, reason: string): EngineError {
  return new EngineError("model_unsupported", `The adapter ${file} is not supported: ${reason}.`);
}

export function mismatch(file: string, reason: string): EngineError {
  return new EngineError(
    "adapter_mismatch",
    `The adapter ${file} does not fit the model: ${reason}. Load it with the model that it was made for.`,
  );
}
