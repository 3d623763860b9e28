// Ollama's `keep_alive`: how long a model stays in memory after a request, in seconds or as a duration of Go.
import { timeMsMax } from "../../settings/rules.ts";

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** In milliseconds, limited to what a timer can wait; null means forever. The schema has checked the text. */
export function keepAliveMs(keepAlive: number | string): number | null {
  const ms = typeof keepAlive === "number" ? keepAlive * 1_000 : durationMs(keepAlive);
  return ms < 0 ? null : Math.min(timeMsMax, Math.round(ms));
}

function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
  return text.startsWith("-") ? -ms : ms;
}
