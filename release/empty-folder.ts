// Simulates a user's machine: an empty folder outside the checkout, with Node and npm but no compiler, and a local registry.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { RunningProgram } from "@ingle/fixtures";
import type { Registry } from "./registry.ts";
import { runTool } from "./tool.ts";

/** The only programs in PATH; npm starts programs with sh. */
const programs = ["npm", "npx", "sh"];

export class EmptyFolder implements AsyncDisposable {
  /** `more` names additional programs that the user has. */
  static async make(registry: Registry, more: readonly string[] = []): Promise<EmptyFolder> {
    const root = await realpath(await mkdtemp(path.join(tmpdir(), "ingle-user-")));
    const folder = new EmptyFolder(root);
    await mkdir(folder.path);
    await mkdir(folder.#bin);
    // Windows has no such links; there, npm is in Node's folder.
    if (process.platform !== "win32") {
      await symlink(process.execPath, path.join(folder.#bin, "node"));
      for (const name of [...programs, ...more])
        await symlink(await find(name), path.join(folder.#bin, name));
    }
    await writeFile(path.join(root, ".npmrc"), registry.npmrc);
    await writeFile(path.join(root, ".yarnrc.yml"), registry.yarnrc);
    return folder;
  }

  /** The user's working directory. */
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #root: string;
  readonly #bin: string;
  readonly #home: string;

  private constructor(root: string) {
    this.#root = root;
    this.#bin = path.join(root, "bin");
    this.#home = path.join(root, "ingle");
    this.path = path.join(root, "project");
    // Package managers keep everything below the home folder; this one has the registry's settings.
    const windows = process.env["SystemRoot"] ?? "";
    this.env = {
      ...(process.platform === "win32"
        ? {
            PATH: `${path.dirname(process.execPath)};${windows}\\System32`,
            SystemRoot: windows,
            USERPROFILE: root,
            APPDATA: root,
            LOCALAPPDATA: root,
          }
        : { PATH: this.#bin }),
      HOME: root,
      TMPDIR: tmpdir(),
      INGLE_HOME: this.#home,
      INGLE_OFFLINE: "1",
    };
  }

  async run(name: string, ...args: string[]): Promise<string> {
    return await runTool(name, args, { cwd: this.path, env: this.env });
  }

  /** Starts a program that runs until it is stopped. */
  start(name: string, ...args: string[]): RunningProgram {
    return new RunningProgram(name, spawn(name, args, { cwd: this.path, env: this.env }));
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(path.join(this.path, name)), { recursive: true });
    await writeFile(path.join(this.path, name), text);
  }

  /** Copies a model's file into the user's models folder, where it is the default model. */
  async addModel(file: string): Promise<void> {
    const models = path.join(this.#home, "models");
    await mkdir(models, { recursive: true });
    await cp(file, path.join(models, "tiny.gguf"));
  }

  /** The path of an installed package's program. */
  program(name: string): string {
    return path.join(this.path, "node_modules", ".bin", name);
  }

  /** The folders of the packages that npx has installed for one command. */
  async installedByNpx(): Promise<string[]> {
    const cache = path.join((await this.run("npm", "config", "get", "cache")).trim(), "_npx");
    const [command = ""] = await readdir(cache);
    const lock = await readFile(path.join(cache, command, "node_modules", ".package-lock.json"), "utf8");
    const { packages }: { packages: object } = JSON.parse(lock);
    return Object.keys(packages);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true });
  }
}

async function find(name: string): Promise<string> {
  const which = await runTool("sh", ["-c", `command -v ${name}`], { cwd: tmpdir() });
  return await realpath(which.trim());
}
