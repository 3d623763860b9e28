// Progress bars and gauges.
import "./progress.css";

interface ProgressProps {
  /** The accessible name. */
  label: string;
  /** 0 to 1; null while unknown. */
  value: number | null;
}

export function Progress({ label, value }: ProgressProps) {
  return <progress class="progress" aria-label={label} max={1} value={value ?? undefined} />;
}

/** A share of a whole, such as of the context. Its colour changes at the thresholds. */
export function Gauge({
  label,
  value,
  warnFrom = 0.75,
  badFrom = 0.95,
}: ProgressProps & { warnFrom?: number; badFrom?: number }) {
  const share = Math.min(1, Math.max(0, value ?? 0));
  const tone = share >= badFrom ? "bad" : share >= warnFrom ? "warn" : "good";
  return <progress class={`progress gauge ${tone}`} aria-label={label} max={1} value={share} />;
}
