// How the keys and values of a context are stored: bits are what a user says, types of ggml what the engine means. Used by
// load.ts and fit.ts.
import { z } from "zod";
import { buildInfo, type NativeContextOptions } from "./native.ts";

/**
 * The type for so many bits, on the processor and on GPUs. Each has scales beside its values: 16, 8.5, 4.5 and
 * 3.5 bits in all. docs/kv-cache.md has what each costs, measured: of those with 4 bits iq4_nl is nearest to 16, and GPUs have no attention
 * for it.
 */
const typesOfBits = {
  16: { processor: "f16", gpu: "f16" },
  8: { processor: "q8_0", gpu: "q8_0" },
  4: { processor: "iq4_nl", gpu: "q4_0" },
  3: { processor: "q3_kv", gpu: "q3_kv" },
} as const;

/** Bits in which a value of the KV cache is stored. */
export const KvBits = z.literal([16, 8, 4, 3], "must be 16, 8, 4 or 3");
export type KvBits = z.infer<typeof KvBits>;

/** Those that take less memory than the default, the most first. */
export const smallerKvBits = [8, 4, 3] as const satisfies readonly KvBits[];

/** What was asked for; what is absent is 16 bits. */
export interface KvWish {
  kvBits?: KvBits | undefined;
  kvBitsK?: KvBits | undefined;
  kvBitsV?: KvBits | undefined;
  kvTypeK?: string | undefined;
  kvTypeV?: string | undefined;
}

/** The types of keys and values: a type that is named wins over bits, and one side's bits over those of both. */
export async function kvTypes({
  kvBits = 16,
  kvBitsK = kvBits,
  kvBitsV = kvBits,
  kvTypeK,
  kvTypeV,
  gpuLayers,
}: KvWish & { gpuLayers?: number | undefined }): Promise<Pick<NativeContextOptions, "kvTypeK" | "kvTypeV">> {
  const [keys, values] = [typesOfBits[kvBitsK], typesOfBits[kvBitsV]];
  // Devices are asked only when it matters: that takes a while, and fit.ts comes here many times.
  const isSame = [keys, values].every(({ processor, gpu }) => processor === gpu);
  const where = isSame || !(await computesOnGpu(gpuLayers)) ? "processor" : "gpu";
  return { kvTypeK: kvTypeK ?? keys[where], kvTypeV: kvTypeV ?? values[where] };
}

async function computesOnGpu(gpuLayers: number | undefined): Promise<boolean> {
  if (gpuLayers === 0) return false;
  const { devices } = await buildInfo();
  return devices.some(({ type }) => type === "gpu" || type === "igpu");
}
