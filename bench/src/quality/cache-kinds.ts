// The KV cache types that `bench kv` compares, the original first.
import type { ToolBuild } from "./llama-tools.ts";

export interface CacheKind {
  name: string;
  note: string;
  /** The bits for which Ingle uses this type on the CPU. */
  isOurs: boolean;
  /** ggml's names. */
  types: { kvTypeK: string; kvTypeV: string };
  build: ToolBuild;
}

export const cacheKinds: readonly [CacheKind, ...CacheKind[]] = [
  kind("f16", "16 bits, the original"),
  kind("q8_0", "8 bits"),
  kind("q4_0", "upstream's usual 4 bits", { isOurs: false }),
  kind("iq4_nl", "4 bits"),
  kind("q3_kv", "3 bits"),
  {
    ...kind("q3_kv", "evenly spaced levels in as many bits", { isOurs: false }),
    name: "uniform-3-bit",
    build: "uniform-3-bit",
  },
];

function kind(type: string, note: string, { isOurs = true } = {}): CacheKind {
  return { name: type, note, isOurs, types: { kvTypeK: type, kvTypeV: type }, build: "patched" };
}

/** The original and the named others; no names mean all. */
export function chooseKinds(names: readonly string[]): [CacheKind, ...CacheKind[]] {
  const [original, ...others] = cacheKinds;
  return [original, ...others.filter(({ name }) => names.length === 0 || names.includes(name))];
}
