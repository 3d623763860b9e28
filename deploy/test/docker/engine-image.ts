// The image of the Dockerfile, built and run by Docker or Podman.
import { execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Container, Image } from "./container.ts";
import { imageConfig, readStages, type ImageConfig } from "./dockerfile.ts";
import { RunningProgram } from "@ingle/fixtures";

const run = promisify(execFile);
const buildLimitMs = 60 * 60_000;
const commandLimitMs = 120_000;
/** Time limit of a stop, longer than running replies may take. */
const stopSeconds = 40;

/** `docker` or `podman`, if the engine of one of them responds. */
export async function containerEngine(): Promise<string | undefined> {
  for (const engine of ["docker", "podman"]) {
    try {
      await run(engine, ["info"], { timeout: commandLimitMs });
      return engine;
    } catch {
      // It is not installed, or its engine is not running.
    }
  }
  return undefined;
}

/** Builds for the CPU. */
export async function engineImage(engine: string, checkout: string): Promise<Image> {
  const file = path.join(checkout, "deploy/docker/Dockerfile");
  const tag = `ingle-test-${process.pid}`;
  await run(engine, ["build", "-f", file, "-t", tag, checkout], {
    timeout: buildLimitMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  const last = readStages(await readFile(file, "utf8"), { GPU: "cpu" }).at(-1);
  if (last === undefined) throw new Error("The Dockerfile has no stages.");
  return new EngineImage(engine, tag, imageConfig(last));
}

class EngineImage implements Image {
  readonly #engine: string;
  readonly #tag: string;
  readonly config: ImageConfig;

  constructor(engine: string, tag: string, config: ImageConfig) {
    this.#engine = engine;
    this.#tag = tag;
    this.config = config;
  }

  async bytes(folder: string): Promise<number> {
    return Number.parseInt(
      await this.#call("run", "--rm", "--entrypoint", "du", this.#tag, "-sb", folder),
      10,
    );
  }

  async start({ env, models }: { env: Record<string, string>; models: string }): Promise<Container> {
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const limits = ["--read-only", "--cap-drop=ALL", "--network=none", "--volume", `${models}:/models`];
    const id = (await this.#call("run", "--detach", ...limits, ...variables, this.#tag)).trim();
    return {
      exec: async (command) => {
        const process = new RunningProgram(this.#engine, spawn(this.#engine, ["exec", id, ...command]));
        return { code: await process.ended, stdout: process.stdout, stderr: process.stderr };
      },
      log: async () => {
        const { stdout, stderr } = await run(this.#engine, ["logs", id], { timeout: commandLimitMs });
        return stdout + stderr;
      },
      serverUser: async () =>
        /^Uid:\s+(\d+)/m.exec(await this.#call("exec", id, "cat", "/proc/1/status"))?.[1],
      ended: async () => Number(await this.#call("wait", id)),
      stop: async () => {
        await this.#call("stop", "--time", String(stopSeconds), id);
        return Number(await this.#call("inspect", "--format", "{{.State.ExitCode}}", id));
      },
      [Symbol.asyncDispose]: async () => {
        await this.#call("rm", "--force", id);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#call("rmi", "--force", this.#tag);
  }

  async #call(...args: string[]): Promise<string> {
    return (await run(this.#engine, args, { timeout: commandLimitMs })).stdout;
  }
}
