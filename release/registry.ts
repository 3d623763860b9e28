// A local registry on loopback: Verdaccio, which accepts the published packages and gets everything else from the machine's
// registry.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@ingle/fixtures";
import type { Tarball } from "./packages.ts";
import { runTool } from "./tool.ts";

/** It starts in two seconds on an idle machine. */
const startMaxMs = 60_000;

export class Registry implements AsyncDisposable {
  static async start(): Promise<Registry> {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-registry-"));
    const upstream = (await runTool("npm", ["config", "get", "registry"], { cwd: folder })).trim();
    const config = path.join(folder, "config.json");
    await writeFile(config, JSON.stringify(registryConfig(folder, upstream)));
    const port = await freePort();
    const program = createRequire(import.meta.url).resolve("verdaccio/bin/verdaccio");
    const args = [program, "--config", config, "--listen", `127.0.0.1:${port}`];
    const registry = new Registry(
      folder,
      port,
      spawn(process.execPath, args, { cwd: folder, stdio: "ignore" }),
    );
    await registry.#started();
    return registry;
  }

  readonly url: string;
  /** npm's settings for this registry. Anyone may publish, but clients insist on some token. */
  readonly npmrc: string;
  /** The settings of Yarn 2 and later, which by default waits some days before it installs a new version. */
  readonly yarnrc: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, program: ChildProcess) {
    this.#folder = folder;
    this.#process = program;
    this.url = `http://127.0.0.1:${port}/`;
    this.npmrc = `registry=${this.url}\n//127.0.0.1:${port}/:_authToken=anyone\nfund=false\naudit=false\nupdate-notifier=false\n`;
    this.yarnrc = `npmRegistryServer: "${this.url}"\nunsafeHttpWhitelist: ["127.0.0.1"]\nnpmMinimalAgeGate: 0\nenableTelemetry: false\n`;
  }

  /** Publishes packages as a release does. */
  async publish(tarballs: readonly Tarball[]): Promise<void> {
    const cwd = path.join(this.#folder, "publish");
    await mkdir(cwd, { recursive: true });
    await writeFile(path.join(cwd, ".npmrc"), this.npmrc);
    for (const { file } of tarballs)
      await runTool("npx", ["--yes", "pnpm@12", ...publishArgs(file), "--registry", this.url], {
        cwd,
        env: { ...process.env, NPM_CONFIG_USERCONFIG: path.join(cwd, ".npmrc") },
      });
  }

  async #started(): Promise<void> {
    const until = performance.now() + startMaxMs;
    while (performance.now() < until) {
      if (
        await fetch(`${this.url}-/ping`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
      await sleep(100);
    }
    await this[Symbol.asyncDispose]();
    throw new Error(`Verdaccio did not start within ${startMaxMs / 1000} seconds.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = this.#process.exitCode === null ? once(this.#process, "exit") : undefined;
    this.#process.kill();
    await exited;
    await rm(this.#folder, { recursive: true });
  }
}

/** The arguments of pnpm that publish a tarball, here and in a release. */
export function publishArgs(file: string): string[] {
  return ["publish", file, "--access", "public", "--no-git-checks"];
}

function registryConfig(folder: string, upstream: string): object {
  const ours = { access: "$all", publish: "$all" };
  return {
    storage: path.join(folder, "storage"),
    uplinks: { machine: { url: upstream, maxage: "1h", timeout: "60s" } },
    packages: {
      ingle: ours,
      "@ingle/*": ours,
      "**": { access: "$all", proxy: "machine" },
    },
    // More than the largest engine with a GPU.
    max_body_size: "1gb",
    web: { enable: false },
    log: { type: "stdout", format: "json", level: "fatal" },
  };
}
