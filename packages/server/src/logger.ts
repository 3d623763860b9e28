// How the server logs: one JSON object a line, or readable lines on a terminal. Logs go to stderr; stdout belongs to
// the command line. Used by serve.ts.
import type { FastifyServerOptions } from "fastify";

/** What Fastify takes as its logger; `false` is silence. */
export type LoggerSetting = NonNullable<FastifyServerOptions["logger"]>;

/** `level` is pino's: trace, debug, info, warn, error, fatal, silent. */
export async function loggerSetting(options: { level: string; isTerminal: boolean }): Promise<LoggerSetting> {
  const { level, isTerminal } = options;
  if (!isTerminal) return { level, stream: process.stderr };
  const { default: pretty } = await import("pino-pretty"); // not loaded where nobody looks on
  return {
    level,
    stream: pretty({
      destination: process.stderr.fd,
      colorize: process.stderr.hasColors(), // not for a terminal without, nor with NO_COLOR
      singleLine: true,
      ignore: "pid,hostname",
      sync: true,
    }),
  };
}
