// Values of metadata in GGUF's types, and a model's metadata as a whole.
import type { GgufMetadata, GgufValue } from "@ingle/gguf";

/** A key without the architecture's name before it. */
export type Entry = readonly [key: string, value: GgufValue];

/** A whole number as GGUF keeps sizes and counts. */
export function count(value: number): GgufValue {
  return { type: "uint32", value };
}

export function float(value: number): GgufValue {
  return { type: "float32", value: Math.fround(value) };
}

export function text(value: string): GgufValue {
  return { type: "string", value };
}

/** `architecture` as llama.cpp names it. Of two entries with one key the later holds. */
export function modelMetadata(architecture: string, entries: readonly Entry[]): GgufMetadata {
  return new Map<string, GgufValue>([
    ["general.architecture", text(architecture)],
    ["general.type", text("model")],
    ...entries.map(([key, value]): [string, GgufValue] => [`${architecture}.${key}`, value]),
  ]);
}
