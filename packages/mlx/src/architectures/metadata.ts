// Makes metadata values, and a model's metadata of them.
import type { GgufMetadata, GgufValue } from "@ingle/gguf";

/** A key without the architecture's prefix. */
export type Entry = readonly [key: string, value: GgufValue];

export function uint32(value: number): GgufValue {
  return { type: "uint32", value };
}

export function float32(value: number): GgufValue {
  return { type: "float32", value: Math.fround(value) };
}

export function text(value: string): GgufValue {
  return { type: "string", value };
}

/** `architecture` is llama.cpp's name. If two entries have the same key, the later one counts. */
export function modelMetadata(architecture: string, entries: readonly Entry[]): GgufMetadata {
  return new Map<string, GgufValue>([
    ["general.architecture", text(architecture)],
    ["general.type", text("model")],
    ...entries.map(([key, value]): [string, GgufValue] => [`${architecture}.${key}`, value]),
  ]);
}
