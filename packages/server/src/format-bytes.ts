// How many bytes something has, as people read it. Pure.

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** 322591712 becomes "308 MiB": three digits say enough. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
