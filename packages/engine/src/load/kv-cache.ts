// The types of the KV cache: users specify bits, the engine uses ggml's types.
import { z } from "zod";
import { buildInfo, type NativeContextOptions } from "../native/addon.ts";

/**
 * The ggml type for each number of bits, on the processor and on GPUs. With their scales, they take 16, 8.5, 4.5 and 3.5 bits per
 * value. docs/kv-cache.md has the measured cost of each: with 4 bits, iq4_nl is the most exact, but GPUs have no attention for it.
 */
const typesOfBits = {
  16: { processor: "f16", gpu: "f16" },
  8: { processor: "q8_0", gpu: "q8_0" },
  4: { processor: "iq4_nl", gpu: "q4_0" },
  3: { processor: "q3_kv", gpu: "q3_kv" },
} as const;

/** Bits of a value in the KV cache. */
export const KvBits = z.literal([16, 8, 4, 3], "must be 16, 8, 4 or 3");
export type KvBits = z.infer<typeof KvBits>;

/** Fewer bits than the default, most first. */
export const smallerKvBits = [8, 4, 3] as const satisfies readonly KvBits[];

/** The requested bits or types. Default: 16 bits. */
export interface RequestedKvTypes {
  kvBits?: KvBits | undefined;
  kvBitsK?: KvBits | undefined;
  kvBitsV?: KvBits | undefined;
  kvTypeK?: string | undefined;
  kvTypeV?: string | undefined;
}

/** The types of keys and values. A named type takes precedence over bits, and bits of one side over `kvBits`. */
export async function kvTypes({
  kvBits = 16,
  kvBitsK = kvBits,
  kvBitsV = kvBits,
  kvTypeK,
  kvTypeV,
  gpuLayers,
  devices,
}: RequestedKvTypes & {
  gpuLayers?: number | "auto" | "all" | undefined;
  devices?: readonly string[] | undefined;
}): Promise<Pick<NativeContextOptions, "kvTypeK" | "kvTypeV">> {
  const [keys, values] = [typesOfBits[kvBitsK], typesOfBits[kvBitsV]];
  // Listing devices takes a while and fit.ts calls this often, so only do it if the types differ.
  const isSame = [keys, values].every(({ processor, gpu }) => processor === gpu);
  const isOnProcessor = isSame || gpuLayers === 0 || devices?.[0] === "none" || !(await hasGpu());
  const where = isOnProcessor ? "processor" : "gpu";
  return { kvTypeK: kvTypeK ?? keys[where], kvTypeV: kvTypeV ?? values[where] };
}

async function hasGpu(): Promise<boolean> {
  const { devices } = await buildInfo();
  return devices.some(({ type }) => type === "gpu" || type === "igpu");
}
