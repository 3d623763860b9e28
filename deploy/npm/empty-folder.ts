// A user's folder: empty, outside the checkout, with Node and npm but no compiler, and a registry of our own.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { HostProcess } from "../hosts/host-process.ts";
import type { Registry } from "./registry.ts";
import { runTool } from "./tool.ts";

/** All that is in PATH; npm starts programs with sh. */
const programs = ["npm", "npx", "sh"];

export class EmptyFolder implements AsyncDisposable {
  /** `more` names programs that the user has, too. */
  static async make(registry: Registry, more: readonly string[] = []): Promise<EmptyFolder> {
    const root = await realpath(await mkdtemp(path.join(tmpdir(), "ingle-user-")));
    const folder = new EmptyFolder(root);
    await mkdir(folder.path);
    await mkdir(folder.#bin);
    // Windows has no such links; npm is in Node's folder there.
    if (process.platform !== "win32") {
      await symlink(process.execPath, path.join(folder.#bin, "node"));
      for (const name of [...programs, ...more])
        await symlink(await find(name), path.join(folder.#bin, name));
    }
    await writeFile(path.join(root, ".npmrc"), registry.npmrc);
    await writeFile(path.join(root, ".yarnrc.yml"), registry.yarnrc);
    return folder;
  }

  /** Where the user works. */
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
    // Package managers keep everything below the home folder; ours has the registry's settings.
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
  start(name: string, ...args: string[]): HostProcess {
    return new HostProcess(name, spawn(name, args, { cwd: this.path, env: this.env }));
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(path.join(this.path, name)), { recursive: true });
    await writeFile(path.join(this.path, name), text);
  }

  /** Copies a model's file into the user's models folder, where it is the model that is used if none is named. */
  async addModel(file: string): Promise<void> {
    const models = path.join(this.#home, "models");
    await mkdir(models, { recursive: true });
    await cp(file, path.join(models, "tiny.gguf"));
  }

  /** The path of an installed package's program. */
  program(name: string): string {
    return path.join(this.path, "node_modules", ".bin", name);
  }

  /** The folders of the packages that npx has installed, of one command. */
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
