// Minimal systems of this machine's Debian or Ubuntu release in folders, with only base packages and Node, like the images that the
// Dockerfile is based on. Needs root and debootstrap.
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const prefix = "ingle-bare-";
/** Time limit for downloading and unpacking the packages of a minimal system. */
const bootstrapLimitMs = 5 * 60_000;
/** Time limit of a step. The longest one compiles llama.cpp, and its kernels 14 times, on two cores without a cache. */
const stepLimitMs = 40 * 60_000;
/** The maximum size of a step's output. */
const outputMax = 64 * 1024 * 1024;
/** Caches of this machine's user that the steps share, by their paths below the home folder. */
const caches = [".cache/ccache", ".config/ccache", ".local/share/pnpm", ".npm"];
/** Variables that npm needs to reach its registry, and those that a compiler cache includes in its keys. */
const isPassedOn = /^(npm_config_.*|https?_proxy|no_proxy|node_extra_ca_certs|lang|lc_.*)$/i;

interface Bind {
  from: string;
  /** A folder or file of the system; created if missing. */
  to: string;
}

interface InsideOptions {
  /** Default: root. */
  user?: string;
  env?: Readonly<Record<string, string>>;
  /** Folders of this machine that are mounted for the command. */
  binds?: readonly Bind[];
  /** The command cannot write outside of `binds`. */
  isReadOnly?: boolean;
}

/**
 * The arguments for `unshare` that run a command inside the system. Its mounts disappear when the command ends, however it ends.
 */
export function unshareArguments(
  root: string,
  command: readonly string[],
  { user = "0:0", env = {}, binds = [], isReadOnly = false }: InsideOptions = {},
): string[] {
  const places = binds.map(({ from, to }) => [from, path.join(root, to)].map(quoted).join(" "));
  const script = [
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    `mount -t proc proc ${quoted(`${root}/proc`)}`,
    `mount --rbind /dev ${quoted(`${root}/dev`)}`,
    ...places.map((place) => `mount --bind ${place}`),
    ...(isReadOnly ? [`mount -o remount,bind,ro ${quoted(root)}`] : []),
    `exec chroot --userspec=${user} ${quoted(root)} env -i "$@"`,
  ].join(" && ");
  const variables = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...env };
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return ["--mount", "sh", "-ec", script, "sh", ...words, ...command];
}

export class BareDebian implements AsyncDisposable {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Installs a system with Node, after removing the leftovers of dead processes. */
  static async install(): Promise<BareDebian> {
    await removeLeftovers();
    const root = await mkdtemp(path.join(tmpdir(), `${prefix}${process.pid}-`));
    const system = new BareDebian(root);
    try {
      await chmod(root, 0o755);
      const { suite, site } = await packageSource();
      await run("unshare", ["--mount", "debootstrap", "--variant=minbase", suite, root, site], {
        timeout: bootstrapLimitMs,
        maxBuffer: outputMax,
      });
      await system.#copyNode();
      return system;
    } catch (error) {
      await system[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A copy of this system. */
  async copy(): Promise<BareDebian> {
    const root = await mkdtemp(path.join(tmpdir(), `${prefix}${process.pid}-`));
    await run("cp", ["-a", `${this.root}/.`, root]);
    return new BareDebian(root);
  }

  /** Runs a build step as root, with this machine's network and caches. Throws with the end of the step's output. */
  async step(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
    const binds = caches
      .map((place) => ({ from: path.join(homedir(), place), to: path.join("/root", place) }))
      .filter(({ from }) => existsSync(from));
    for (const { to } of binds) await mkdir(path.join(this.root, to), { recursive: true });
    const settings = Object.entries(process.env).filter(([name]) => isPassedOn.test(name));
    const args = unshareArguments(this.root, ["sh", "-c", `cd "$1" && ${command}`, "sh", cwd], {
      env: {
        HOME: "/root",
        ...Object.fromEntries(settings.map(([name, value = ""]) => [name, value])),
        ...env,
      },
      binds,
    });
    try {
      // In a separate process namespace, so that no process outlives the step.
      const group = ["--pid", "--fork", "--kill-child"];
      const limits = { timeout: stepLimitMs, killSignal: "SIGKILL", maxBuffer: outputMax } as const;
      await run("unshare", [...group, ...args], limits);
    } catch (error) {
      const output =
        error instanceof Error ? `${Reflect.get(error, "stdout")}${Reflect.get(error, "stderr")}` : "";
      throw new Error(`"${command}" failed in the bare system:\n${output.slice(-4000)}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** Installs Node and npm at the same paths as their image, and copies this machine's host names and npm settings. */
  async #copyNode(): Promise<void> {
    const local = path.join(this.root, "usr", "local");
    await cp(await realpath(process.execPath), path.join(local, "bin", "node"));
    const globals = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
    await cp(await realpath(path.join(globals, "npm")), path.join(local, "lib", "node_modules", "npm"), {
      recursive: true,
    });
    for (const name of ["npm", "npx"])
      await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(local, "bin", name));
    const files = ["/etc/resolv.conf", "/etc/hosts", process.env["NODE_EXTRA_CA_CERTS"] ?? ""];
    for (const file of files.filter((name) => existsSync(name))) {
      await mkdir(path.join(this.root, path.dirname(file)), { recursive: true });
      await cp(await realpath(file), path.join(this.root, file));
    }
    const npmrc = path.join(homedir(), ".npmrc");
    if (existsSync(npmrc)) await cp(npmrc, path.join(this.root, "root", ".npmrc"));
    const proxies = execFileSync("apt-config", ["dump"], { encoding: "utf8" })
      .split("\n")
      .filter((line) => /^Acquire::https?::Proxy/i.test(line));
    await writeFile(path.join(this.root, "etc", "apt", "apt.conf.d", "proxy"), `${proxies.join("\n")}\n`);
  }
}

/** The package mirror that this machine uses for its own release. */
async function packageSource(): Promise<{ suite: string; site: string }> {
  const release = await readFile("/etc/os-release", "utf8");
  const suite = /^VERSION_CODENAME=(.+)$/m.exec(release)?.[1] ?? "";
  const { stdout } = await run("apt-get", ["indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)"]);
  const site = stdout
    .split("\n")
    .map((line) => line.split(" "))
    .find(([codename, component]) => codename === suite && component === "main")?.[2];
  if (site !== undefined) return { suite, site };
  throw new Error(`apt's sources of this machine have no packages of ${suite}.`);
}

async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(owner) && !existsSync(`/proc/${owner}`))
      await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
