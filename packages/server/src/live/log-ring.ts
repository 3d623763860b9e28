// The last log lines, for the events of GET /api/v1/events. They are stored as written and parsed only when read.
import { logLinesMax, type LogLine } from "@ingle/protocol";

/** Maximum length of all kept lines together, in UTF-16 units; a line with a stack trace has a few thousand. */
const lengthMax = 1024 * 1024;

/** Pino's numeric levels. `fatal` is shown as an error. */
const levels = { warn: 40, error: 50 } as const;

/** Fields of every line, which are not shown as details. */
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

  /** Adds a line as pino writes it, and drops the oldest lines beyond the limits. */
  write(json: string): void {
    this.#last += 1;
    this.#lines.push({ number: this.#last, json });
    this.#length += json.length;
    while (this.#lines.length > 1 && (this.#lines.length > logLinesMax || this.#length > lengthMax))
      this.#length -= this.#lines.shift()?.json.length ?? 0;
  }

  /** The kept lines after this number, oldest first. */
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
    level: levelName(Number(level)),
    message: typeof msg === "string" ? msg : "",
    details: Object.fromEntries(Object.entries(line).filter(([name]) => !known.has(name))),
  };
}

function levelName(number: number): LogLine["level"] {
  if (number >= levels.error) return "error";
  return number >= levels.warn ? "warn" : "info";
}
