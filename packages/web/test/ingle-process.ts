// `ingle` as a process of its own with a home of its own, as a person starts it. Used by the tests of the page.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const server = path.dirname(fileURLToPath(import.meta.resolve("@ingle/server/package.json")));
/** The real command, and the one over a model that says what a script tells it. */
const programs = { real: "bin/ingle.js", scripted: "test/scripted-ingle.js" };

/** From the start of the process to the line with its address. */
const readyMs = 30_000;

/** The folder for models, settings and keys of one test. */
export class Home implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** With these model files in its library, by the names that they get there. */
  static async make(models: Record<string, string> = {}): Promise<Home> {
    const home = new Home(await mkdtemp(path.join(tmpdir(), "ingle-page-")));
    await mkdir(home.modelsFolder, { recursive: true });
    for (const [name, file] of Object.entries(models)) await cp(file, path.join(home.modelsFolder, name));
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
  home: Home;
  program?: keyof typeof programs;
  env?: Record<string, string>;
}

export class IngleProcess implements AsyncDisposable {
  /** The address that it printed, with the app's token. */
  readonly address: string;
  readonly #child: ChildProcess;
  readonly #output: () => string;

  private constructor(child: ChildProcess, address: string, output: () => string) {
    this.#child = child;
    this.address = address;
    this.#output = output;
  }

  /** Resolves once it has printed its address; rejects with its output when it ends before. */
  static async start(
    command: readonly string[],
    { home, program, env }: IngleOptions,
  ): Promise<IngleProcess> {
    const file = path.join(server, programs[program ?? "real"]);
    const child = spawn(process.execPath, [file, ...command], {
      env: { ...quietEnvironment(home), ...env },
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
      if (address !== undefined) return new IngleProcess(child, address, () => output);
      if (child.exitCode !== null || Date.now() > until) {
        child.kill("SIGKILL");
        throw new Error(`ingle ${command.join(" ")} printed no address:\n${output}`);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  /** Without a path and a token. */
  get origin(): string {
    return new URL(this.address).origin;
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  get output(): string {
    return this.#output();
  }

  /** As a crash or a lost machine: nothing is told to anybody. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
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

/** Nothing of the machine's own settings, and no hub but the one that a test names. */
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
