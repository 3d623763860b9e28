// Filters and formats the lines of the log. Pure.
import type { LogLine } from "@ingle/protocol";

export type LogLevel = LogLine["level"];

/** From the least to the most important. */
export const logLevels: readonly LogLevel[] = ["info", "warn", "error"];

/** The lines of at least this level that contain the words, in any case. */
export function shownLines(
  lines: readonly LogLine[],
  { level, words }: { level: LogLevel; words: string },
): LogLine[] {
  const from = logLevels.indexOf(level);
  const wanted = words.trim().toLowerCase();
  return lines.filter(
    (line) =>
      logLevels.indexOf(line.level) >= from &&
      (wanted === "" || `${line.message} ${detailsText(line)}`.toLowerCase().includes(wanted)),
  );
}

/** The details of a line, such as `model=tiny tokens=12`. */
export function detailsText({ details }: LogLine): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
