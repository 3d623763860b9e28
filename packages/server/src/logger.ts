// The server's log, on stderr: readable lines or one JSON object per line; and a copy for the events stream.
import type { EngineCrash } from "@ingle/engine";
import { fstatSync } from "node:fs";
import { hostname } from "node:os";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import type { LogRing } from "./live/log-ring.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/** Where lines of this level and above go, as JSON; `false` disables the log. */
export type LoggerSetting = false | { level: LogLevel; stream: LogStream };

interface LogStream {
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

export type LogFormat = "text" | "json";

/**
 * Text if a person may read it: if stdin, stdout or stderr is a terminal, or stderr is a file. Otherwise JSON: in containers,
 * under service managers, and in pipes of other programs.
 */
export function usualLogFormat({ isTerminal = isatty, isFile = isFileDescriptor } = {}): LogFormat {
  const [stdin, stdout, stderr] = [0, 1, 2] as const;
  return isTerminal(stdin) || isTerminal(stdout) || isTerminal(stderr) || isFile(stderr) ? "text" : "json";
}

/**
 * Big integers, because Node 20 reuses the result of its last stat call when it resolves links in paths: that of a pipe would
 * make it stop early, and imports of linked packages would fail.
 */
function isFileDescriptor(descriptor: number): boolean {
  return fstatSync(descriptor, { bigint: true }).isFile();
}

export async function loggerSetting({
  level,
  format = usualLogFormat(),
}: {
  level: LogLevel;
  format?: LogFormat | undefined;
}): Promise<LoggerSetting> {
  if (format === "json") return { level, stream: process.stderr };
  const { stderr } = process;
  const readable = await readableLines(stderr.isTTY && stderr.hasColors()); // respects NO_COLOR
  return { level, stream: { write: (line) => stderr.write(overProgress(readable(line), stderr)) } };
}

/** Makes a line of the log readable; one that is not JSON stays as it is. The result ends with a line break. */
export async function readableLines(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty"); // loaded only for text
  return prettyFactory({ colorize, singleLine: true, ignore: "pid,hostname" });
}

/** On a terminal, a log line overwrites a progress bar in its place; the bar is redrawn below. */
function overProgress(line: string, { isTTY }: { isTTY?: boolean }): string {
  return isTTY === true ? `\r\u001B[K${line}` : line;
}

/** A sentence for people as a log line, in pino's form. */
export function logLine(sentence: string, about: object = {}): string {
  const { pid } = process;
  const head = { level: levelNumbers.info, time: Date.now(), pid, hostname: hostname() };
  return `${JSON.stringify({ ...head, ...about, msg: sentence })}\n`;
}

/** An output that writes sentences for people as log lines, so that the log contains nothing else. */
export function asLogLines(stream: LogStream): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      for (const line of text.split("\n")) if (line.trim() !== "") stream.write(logLine(line.trim()));
      done();
    },
  });
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

/** Logs each crash once its report is written, so that the line names it. */
export function crashLog(
  warn: (sentence: string, about: object) => void,
): (model: string, crash: EngineCrash) => void {
  const log = async (model: string, { error, report }: EngineCrash): Promise<void> => {
    const sentence = `the engine of ${model} crashed and is being restarted; crash report: ${await report}`;
    warn(sentence, { model, reason: error.message });
  };
  return (model, crash) => void log(model, crash); // it never rejects
}
