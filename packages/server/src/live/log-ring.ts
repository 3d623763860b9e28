// The last lines of the log, for the events of GET /api/v1/events. They are kept as they were written and read when somebody looks.
import { logLinesMax, type LogLine } from "@ingle/protocol";

/** Most UTF-16 units of all kept lines together; a line with an error and its stack has some thousand. */
const lengthMax = 1024 * 1024;

/** Pino's levels by their numbers; a fatal one is an error that ends the process. */
const levels = { warn: 40, error: 50 } as const;

/** Fields that every line has, which are not shown as details. */
const known: ReadonlySet<string> = new Set(["level", "time", "pid", "hostname", "msg"]);

interface KeptLine {
  number: number;
  json: string;
}

export class LogRing {
  readonly #lines: KeptLine[] = [];
  #length = 0;
  #last = 0;

  /** The number of the last line; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Adds a line as pino writes it, and drops the oldest beyond the limits. */
  write(json: string): void {
    this.#last += 1;
    this.#lines.push({ number: this.#last, json });
    this.#length += json.length;
    while (this.#lines.length > 1 && (this.#lines.length > logLinesMax || this.#length > lengthMax))
      this.#length -= this.#lines.shift()?.json.length ?? 0;
  }

  /** The lines after this number that are still kept, the oldest first. */
  after(number: number): LogLine[] {
    return this.#lines.filter((line) => line.number > number).map(toLogLine);
  }
}

function toLogLine({ number, json }: KeptLine): LogLine {
  const line: Record<string, unknown> = JSON.parse(json);
  const { level, time, msg } = line;
  return {
    number,
    time: Number(time) / 1000,
    level: levelOf(Number(level)),
    message: typeof msg === "string" ? msg : "",
    details: Object.fromEntries(Object.entries(line).filter(([name]) => !known.has(name))),
  };
}

function levelOf(number: number): LogLine["level"] {
  if (number >= levels.error) return "error";
  return number >= levels.warn ? "warn" : "info";
}
