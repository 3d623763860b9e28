// The server's log, on stderr: one JSON object per line, or readable lines on a terminal; and a copy for the events stream.
import type { LogRing } from "./live/log-ring.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/** Where lines of this level and above go, as JSON; `false` disables the log. */
export type LoggerSetting = false | { level: LogLevel; stream: LogStream };

export interface LogStream {
  write(line: string): unknown;
}

/** Pino's numbers. */
const levelNumbers: Readonly<Record<LogLevel, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Infinity,
};

/** Makes pino set `lastLevel` of a stream to the level of each line before it writes the line. */
const wantsMetadata = Symbol.for("pino.metadata");

export async function loggerSetting(options: {
  level: LogLevel;
  isTerminal: boolean;
}): Promise<LoggerSetting> {
  const { level, isTerminal } = options;
  if (!isTerminal) return { level, stream: process.stderr };
  const { default: pretty } = await import("pino-pretty"); // loaded only for terminals
  return {
    level,
    stream: pretty({
      destination: process.stderr.fd,
      colorize: process.stderr.hasColors(), // respects NO_COLOR and terminals without colors
      singleLine: true,
      ignore: "pid,hostname",
      sync: true,
    }),
  };
}

/** The same log; `ring` also keeps every line of level info and above, whatever level the log has. */
export function keptIn(ring: LogRing, setting: LoggerSetting): LoggerSetting {
  if (setting === false) return false;
  const outFrom = levelNumbers[setting.level];
  const ringFrom = levelNumbers.info;
  const stream = {
    [wantsMetadata]: true,
    lastLevel: 0,
    write(line: string): void {
      if (this.lastLevel >= outFrom) setting.stream.write(line);
      if (this.lastLevel >= ringFrom) ring.write(line);
    },
  };
  return { level: outFrom < ringFrom ? setting.level : "info", stream };
}
