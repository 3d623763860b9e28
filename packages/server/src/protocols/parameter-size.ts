// Formats the number of a model's parameters for other servers' clients.

/** Such as `1.2B`, `270.50M` or `64K`. */
export function toParameterSize(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)}B`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(2)}M` : `${Math.round(count / 1e3)}K`;
}
