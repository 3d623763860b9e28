// What a command needs from its environment. main.ts passes the process's; tests pass streams, a clock and a scripted engine.
// Engine and server are functions, so that `ingle --version` loads neither.
import type { Readable } from "node:stream";
import type { LogFormat } from "../logger.ts";
import type { Shutdown } from "./shutdown.ts";

/** An output for text. A terminal (`isTTY`) gets bars and colours, anything else plain lines. */
export type TextOutput = NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };

export type Engine = typeof import("@ingle/engine");

/** The parts of serve.ts that commands use. */
export type Server = Pick<typeof import("../serve.ts"), "serve">;

/** The parts of desktop-app.ts that commands use. */
export type App = Pick<typeof import("../desktop-app.ts"), "openDesktopApp">;

/** The parts of browser.ts that commands use. */
export type Browser = Pick<typeof import("./app/browser.ts"), "openPage">;

/** Receives the exit code of the command that ran. */
export type OnExit = (exitCode: number) => void;

export interface CommandContext {
  readonly stdin: Readable & {
    readonly isTTY?: boolean | undefined;
    readonly setRawMode?: (isRaw: boolean) => unknown;
  };
  /** Results: replies, addresses. */
  readonly stdout: TextOutput;
  /** Progress, hints and errors. */
  readonly stderr: TextOutput;
  /** The format of the log, and of sentences beside it, unless --log-format specifies one. */
  readonly logFormat: LogFormat;
  readonly env: NodeJS.ProcessEnv;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly shutdown: Shutdown;
  readonly engine: () => Promise<Engine>;
  readonly server: () => Promise<Server>;
  readonly app: () => Promise<App>;
  readonly browser: () => Promise<Browser>;
}
