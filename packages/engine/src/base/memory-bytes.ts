// Bytes by memory: the machine's RAM and the devices that hold models.
import prettyBytes from "pretty-bytes";

/** Bytes per memory: `host` is the machine's RAM; other names are devices as listed by `buildInfo()`. */
export type MemoryBytes = Readonly<Record<string, number>>;

/** The name of host memory. */
export const hostMemory = "host";

/** The sum for each memory. */
export function addMemory(...parts: readonly MemoryBytes[]): MemoryBytes {
  const sum: Record<string, number> = {};
  for (const part of parts) {
    for (const [name, bytes] of Object.entries(part)) sum[name] = (sum[name] ?? 0) + bytes;
  }
  return sum;
}

/** Bytes in all memories together. */
export function sumBytes(bytes: MemoryBytes): number {
  return Object.values(bytes).reduce((sum, each) => sum + each, 0);
}

/** Converts what the addon reports, whose name for host memory is empty. */
export function toMemoryBytes(reported: readonly { device: string; bytes: number }[]): MemoryBytes {
  return addMemory(
    ...reported.map(({ device, bytes }) => ({ [device === "" ? hostMemory : device]: bytes })),
  );
}

/** "4.7 GiB", "308 MiB". */
export function formatBytes(bytes: number): string {
  return prettyBytes(bytes, { binary: true });
}
