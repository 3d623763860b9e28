// `ingle` as a child process with its own home folder, as a user would start it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const server = path.dirname(fileURLToPath(import.meta.resolve("@ingle/server/package.json")));
/** The real command, and one whose model generates what a script contains. */
const programs = { real: "bin/ingle.js", scripted: "test/scripted-ingle.js" };

/** Limit from the start of the process to the line with its address. */
const readyMs = 30_000;

/** The commands, on a free port and without opening a browser. */
export const app = ["app", "--no-open", "--port", "0"];
export const serve = ["serve", "--port", "0"];

/** Model files by their names in the models folder: a path to copy, or the content. */
export type ModelFiles = Readonly<Record<string, string | Uint8Array>>;

/** A temporary folder for models, settings and keys. */
export class Home implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(models: ModelFiles = {}): Promise<Home> {
    const home = new Home(await mkdtemp(path.join(tmpdir(), "ingle-page-")));
    await mkdir(home.modelsFolder, { recursive: true });
    for (const [name, file] of Object.entries(models)) {
      const target = path.join(home.modelsFolder, name);
      await (typeof file === "string" ? cp(file, target) : writeFile(target, file));
    }
    return home;
  }

  get modelsFolder(): string {
    return path.join(this.folder, "models");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

export interface IngleOptions {
  /** Default: a new home with `models`, which is removed with the process. */
  home?: Home;
  models?: ModelFiles;
  /** Replaces the engine by a model that generates what this says; see the server's scripted-ingle.js. */
  script?: object;
  env?: Record<string, string>;
}

export class IngleProcess implements AsyncDisposable {
  /** The printed address, including the token of the app. */
  readonly address: string;
  readonly home: Home;
  readonly #ownsHome: boolean;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string, home: Home, ownsHome: boolean) {
    this.#child = child;
    this.address = address;
    this.home = home;
    this.#ownsHome = ownsHome;
  }

  /** Resolves once it has printed its address; rejects with its output if it ends before. */
  static async start(command: readonly string[], options: IngleOptions = {}): Promise<IngleProcess> {
    const { script, env, models } = options;
    const home = options.home ?? (await Home.make(models));
    const file = path.join(server, script === undefined ? programs.real : programs.scripted);
    const scriptFile = path.join(home.folder, "script.json");
    if (script !== undefined) await writeFile(scriptFile, JSON.stringify(script));
    const child = spawn(process.execPath, [file, ...command], {
      env: { ...quietEnvironment(home), SCRIPT_FILE: scriptFile, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        output += text;
      });
    }
    const until = Date.now() + readyMs;
    for (;;) {
      const address = output.includes("Ctrl-C") ? addressIn(output) : undefined;
      if (address !== undefined) return new IngleProcess(child, address, home, options.home === undefined);
      if (child.exitCode !== null || Date.now() > until) {
        child.kill("SIGKILL");
        throw new Error(`ingle ${command.join(" ")} printed no address:\n${output}`);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  /** The address without path and token. */
  get origin(): string {
    return new URL(this.address).origin;
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  /** Kills it without a shutdown, as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    if (this.#ownsHome) await this.home[Symbol.asyncDispose]();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }
}

/** None of the machine's own settings, and no hub unless a test sets one. */
function quietEnvironment({ folder }: Home): Record<string, string> {
  const { PATH = "", SystemRoot = "" } = process.env;
  return {
    PATH,
    SystemRoot,
    HOME: folder,
    INGLE_HOME: folder,
    INGLE_DRAIN_TIMEOUT: "1s",
    HF_ENDPOINT: "http://127.0.0.1:9",
    npm_config_registry: "http://127.0.0.1:9",
  };
}

function addressIn(output: string): string | undefined {
  return /http:\/\/127\.0\.0\.1:\d+[^\s"]*/.exec(output)?.[0];
}
