// The interface of the service managers of Linux and macOS, which systemd.ts and launchd.ts implement.
import os from "node:os";

/** The program that runs as a service. */
export interface ServiceDefinition {
  /** The program, with its absolute path, and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Relative paths among the arguments start here. */
  readonly folder: string;
  /** How long it may take to stop while requests are still running. */
  readonly stopSeconds: number;
}

/** The machine, its user, and the program that runs now. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly uid: number;
  readonly folder: string;
  readonly node: string;
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
}

export function thisHost(env: NodeJS.ProcessEnv): Host {
  const { platform, execPath: node } = process;
  const uid = process.getuid?.() ?? 0;
  return {
    platform,
    home: os.homedir(),
    uid,
    folder: process.cwd(),
    node,
    script: process.argv[1] ?? "",
    env,
  };
}

/** A program and its arguments. */
export type ProgramCall = readonly [program: string, ...args: string[]];

/** `mayFail`: stops an earlier start, if there was one. `untilFails`: repeated while it succeeds, until the service has ended. */
export type ManagerCall = ProgramCall | { mayFail: ProgramCall } | { untilFails: ProgramCall };

export interface ServiceManager {
  readonly name: string;
  /** The path of the service's file. */
  readonly file: string;
  /** Where its log can be read, for sentences. */
  readonly log: string;
  /** Throws CliError for text that such a file cannot hold. */
  text(definition: ServiceDefinition): string;
  /** Succeeds if the manager runs for this user. */
  readonly probe: ProgramCall;
  /** Starts the service of the file, now and at each login. */
  readonly start: readonly ManagerCall[];
  /** Stops the service, before its file is removed … */
  readonly stop: readonly ManagerCall[];
  /** … and after that. */
  readonly forget: readonly ManagerCall[];
  readonly status: ProgramCall;
  logs(options: { lines: number; follow: boolean }): ProgramCall;
  /** A hint for the user after the service was started. */
  readonly note: string;
}
