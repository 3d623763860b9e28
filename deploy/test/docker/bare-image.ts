// Builds the Dockerfile's image without a container engine: runs its instructions in two minimal Debian systems, and its command in a
// network namespace on a read-only view of the second one.
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { BareDebian, unshareArguments } from "./bare-debian.ts";
import type { Container, Image } from "./container.ts";
import { imageConfig, readStages, type ImageConfig, type Instruction } from "./dockerfile.ts";
import { createNetwork } from "../hosts/namespaces.ts";

const run = promisify(execFile);
/** Time limit from SIGTERM to the end, including running replies. */
const stopLimitMs = 40_000;
/** Time limit of a short command, such as the health check. */
const execLimitMs = 60_000;

/** Builds for the CPU. */
export async function bareImage(checkout: string): Promise<Image> {
  const stages = readStages(await readFile(path.join(checkout, "deploy/docker/Dockerfile"), "utf8"), {
    GPU: "cpu",
  });
  const build = stages.find(({ name }) => name === "build");
  const last = stages.at(-1);
  if (build === undefined || last === undefined) throw new Error("The Dockerfile has no stage called build.");
  await using base = await BareDebian.install();
  const system = await base.copy();
  try {
    await runInstructions(build.instructions, base, { checkout, from: undefined });
    await runInstructions(last.instructions, system, { checkout, from: base });
    return new BareImage(system, imageConfig(last));
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}

/** Runs the instructions of a stage. `from` is the system that `COPY --from=build` copies from. */
async function runInstructions(
  instructions: readonly Instruction[],
  system: BareDebian,
  { checkout, from }: { checkout: string; from: BareDebian | undefined },
): Promise<void> {
  let folder = "/";
  for (const { word, text } of instructions) {
    if (word === "WORKDIR") {
      // The checkout has the same path as on this machine, so that the compiler cache recognizes its files.
      await mkdir(path.join(system.root, checkout), { recursive: true });
      await symlink(checkout, path.join(system.root, text));
      folder = text;
    } else if (word === "RUN") await system.step(text, folder, {});
    else if (word === "COPY") await copy(text.split(" "), system, { checkout, from });
  }
}

async function copy(
  [first = "", second = "", third]: readonly string[],
  system: BareDebian,
  { checkout, from }: { checkout: string; from: BareDebian | undefined },
): Promise<void> {
  if (first.startsWith("--from=")) {
    if (first !== "--from=build" || from === undefined || third === undefined)
      throw new Error(`COPY ${first} is not supported.`);
    await mkdir(path.dirname(path.join(system.root, third)), { recursive: true });
    await run("cp", ["-a", path.join(from.root, second), path.join(system.root, third)]);
  } else if (first === ".") await copyCheckout(checkout, path.join(system.root, checkout));
  else await cp(path.join(checkout, first), path.join(system.root, second));
}

/** Copies the checkout without the files that the Dockerfile's ignore file lists. */
async function copyCheckout(checkout: string, target: string): Promise<void> {
  const ignored = await readFile(path.join(checkout, "deploy/docker/Dockerfile.dockerignore"), "utf8");
  const patterns = ignored.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const excludes = patterns.map((pattern) =>
    pattern.startsWith("**/") ? `--exclude=${pattern.slice(3)}` : `--exclude=./${pattern}`,
  );
  await run("sh", [
    "-ec",
    'from=$1 to=$2; shift 2; tar -C "$from" "$@" -c . | tar -C "$to" -x',
    "sh",
    checkout,
    target,
    ...excludes,
  ]);
}

class BareImage implements Image {
  readonly #system: BareDebian;
  readonly config: ImageConfig;

  constructor(system: BareDebian, config: ImageConfig) {
    this.#system = system;
    this.config = config;
  }

  async bytes(folder: string): Promise<number> {
    const { stdout } = await run("du", ["-sb", path.join(this.#system.root, folder)]);
    return Number.parseInt(stdout, 10);
  }

  async start({ env, models }: { env: Record<string, string>; models: string }): Promise<Container> {
    const network = await createNetwork({ container: { address: "10.71.0.2" } });
    const program = async (command: readonly string[]) =>
      await network.run(
        "container",
        "unshare",
        unshareArguments(this.#system.root, command, {
          user: this.config.user,
          env: { HOME: "/models", ...this.config.env, ...env },
          binds: [{ from: models, to: "/models" }],
          isReadOnly: true,
        }),
      );
    const server = await program(this.config.command);
    return {
      exec: async (command) => {
        const process = await program(command);
        const late = setTimeout(() => process.child.kill("SIGKILL"), execLimitMs);
        const code = await process.ended;
        clearTimeout(late);
        return { code, stdout: process.stdout, stderr: process.stderr };
      },
      log: async () => server.stdout + server.stderr,
      serverUser: async () =>
        /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${server.pid}/status`, "utf8"))?.[1],
      ended: async () => await server.ended,
      stop: async () => await server.stop("SIGTERM", stopLimitMs),
      [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#system[Symbol.asyncDispose]();
  }
}
