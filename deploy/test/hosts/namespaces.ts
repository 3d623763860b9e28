// Several hosts on one machine, for tests: each is a network namespace, and a bridge connects them. The bridge has its own namespace, so
// this machine's network does not change, and hosts can have the addresses of a configuration file. Needs Linux and root.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { isRunning } from "@ingle/fixtures";
import { RunningProgram } from "@ingle/fixtures";

const run = promisify(execFile);

/** Names begin with this prefix and the process id, so that a later run recognizes the leftovers of a dead process. */
const prefix = "ingle-hosts";
/** The folders of `ip netns`: namespaces, and the files that replace those in /etc for a host. */
const namespacesFolder = "/var/run/netns";
const etcFolder = "/etc/netns";
/** Mount points of the CPU controller: control groups of version 1 and of version 2. */
const processorFolders = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];
/** The period of a CPU limit: shorter than a step of the engine, so that a limited core looks like a slower one. */
const sharePeriodUs = 5_000;
/** The weight of a limited process: the maximum of each version. */
const shareWeights = { "cpu.shares": 262_144, "cpu.weight": 10_000 };
/** Time limit of one call of `ip`. */
const commandLimitMs = 10_000;

let networks = 0;

export interface HostOptions {
  /** An IPv4 address; hosts of a network reach each other within 255.255.255.0. */
  address: string;
  /** Files that programs of this host see in /etc, by their path there: `hosts`, `nginx/nginx.conf`. */
  etc?: Readonly<Record<string, string | Buffer>>;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  /** Adds a channel for messages (`process.send`), for programs that run Node. */
  hasChannel?: boolean;
  /**
   * The fraction of one processor core that the program may use, such as 0.4. It takes precedence over other processes of this machine,
   * so that it really gets its share. Default: no limit.
   */
  processorShare?: number;
}

/** Hosts that reach each other and nothing else. Disposing of it ends all their processes and removes everything that was created. */
export interface Network extends AsyncDisposable {
  /** Runs a program on a host until it ends, is stopped, or the network is disposed of. */
  run(host: string, program: string, args: readonly string[], options?: RunOptions): Promise<RunningProgram>;
  /** Unplugs a host, or plugs it in again. Nothing is notified: its connections stay open, but carry no data. */
  setPlugged(host: string, isPlugged: boolean): Promise<void>;
}

/**
 * Creates a network with these hosts, after removing the leftovers of dead processes. Throws if a command fails, and leaves nothing
 * behind then.
 */
export async function createNetwork(hosts: Readonly<Record<string, HostOptions>>): Promise<Network> {
  await removeLeftovers();
  networks += 1;
  const network = new NamespaceNetwork(`${prefix}-${process.pid}-${networks}`);
  try {
    await network.create(hosts);
  } catch (error) {
    await network[Symbol.asyncDispose]();
    throw error;
  }
  return network;
}

/** Whether the system allows limiting a process to a share of a core. */
export async function canLimitProcessors(): Promise<boolean> {
  return (await processorFolder()) !== undefined;
}

/** Removes the networks of processes that are gone. */
export async function removeLeftovers(): Promise<void> {
  const names = new Set([
    ...(await namesIn(namespacesFolder)),
    ...(await namesIn(etcFolder)),
    ...(await namesIn((await processorFolder()) ?? "")),
  ]);
  for (const name of names) {
    const owner = Number(new RegExp(`^${prefix}-(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(owner) && !existsSync(`/proc/${owner}`)) await removeHost(name);
  }
}

class NamespaceNetwork implements Network {
  readonly #name: string;
  readonly #made: string[] = [];
  /** Each host's end at the bridge. */
  readonly #ports = new Map<string, string>();
  #groups = 0;

  constructor(name: string) {
    this.#name = name;
  }

  async create(hosts: Readonly<Record<string, HostOptions>>): Promise<void> {
    const bridge = this.#fullName("bridge");
    await this.#add(bridge);
    await ip("-n", bridge, "link", "add", "bridge", "type", "bridge");
    await ip("-n", bridge, "link", "set", "bridge", "up");
    for (const [index, [host, { address, etc = {} }]] of Object.entries(hosts).entries()) {
      const name = this.#fullName(host);
      const port = `port${index}`;
      this.#ports.set(host, port);
      await this.#add(name);
      for (const [file, content] of Object.entries(etc)) await writeEtc(name, file, content);
      await ip("-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name);
      await ip("-n", bridge, "link", "set", port, "master", "bridge", "up");
      await ip("-n", name, "address", "add", `${address}/24`, "dev", "eth0");
      await ip("-n", name, "link", "set", "eth0", "up");
    }
  }

  async run(
    host: string,
    program: string,
    args: readonly string[],
    { env = process.env, hasChannel = false, processorShare }: RunOptions = {},
  ): Promise<RunningProgram> {
    const name = this.#fullName(host);
    const inside = ["ip", "netns", "exec", name, program, ...args];
    // A shell joins the group and then executes the program, so that no thread runs without the limit.
    const command =
      processorShare === undefined
        ? inside
        : [
            "sh",
            "-c",
            'echo $$ > "$0"/cgroup.procs && exec "$@"',
            await this.#group(name, processorShare),
            ...inside,
          ];
    const [first = "", ...rest] = command;
    const child = spawn(first, rest, {
      env,
      stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? (["ipc"] as const) : [])],
    });
    return new RunningProgram(path.basename(program), child);
  }

  async setPlugged(host: string, isPlugged: boolean): Promise<void> {
    const port = this.#ports.get(host);
    if (port === undefined) throw new Error(`This network has no host ${host}.`);
    // Detach it from the bridge instead of setting it down, so that the host does not notice either.
    const bridge = isPlugged ? ["master", "bridge"] : ["nomaster"];
    await ip("-n", this.#fullName("bridge"), "link", "set", port, ...bridge);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#made.splice(0).toReversed()) await removeHost(name);
  }

  #fullName(host: string): string {
    return `${this.#name}-${host}`;
  }

  async #add(name: string): Promise<void> {
    this.#made.push(name);
    await ip("netns", "add", name);
    await ip("-n", name, "link", "set", "lo", "up");
  }

  async #group(name: string, share: number): Promise<string> {
    const folder = await processorFolder();
    if (folder === undefined) throw new Error("This system has no CPU controller that this user may use.");
    this.#groups += 1;
    const group = `${name}-${this.#groups}`;
    this.#made.push(group);
    await mkdir(path.join(folder, group));
    const quota = Math.round(share * sharePeriodUs);
    const set = (file: string, value: number | string): Promise<void> =>
      writeFile(path.join(folder, group, file), String(value));
    for (const [file, weight] of Object.entries(shareWeights))
      if (existsSync(path.join(folder, group, file))) await set(file, weight);
    if (existsSync(path.join(folder, group, "cpu.max"))) await set("cpu.max", `${quota} ${sharePeriodUs}`);
    else {
      await set("cpu.cfs_period_us", sharePeriodUs);
      await set("cpu.cfs_quota_us", quota);
    }
    return path.join(folder, group);
  }
}

async function writeEtc(name: string, file: string, content: string | Buffer): Promise<void> {
  const target = path.join(etcFolder, name, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, content);
}

/** Removes everything with this name and the processes in it: a host, the bridge, or a limited group of processes. */
async function removeHost(name: string): Promise<void> {
  const folder = await processorFolder();
  const group = path.join(folder ?? "", name);
  const pidLists = [
    ...(existsSync(path.join(namespacesFolder, name)) ? [await ip("netns", "pids", name)] : []),
    ...(folder !== undefined && existsSync(group)
      ? [await readFile(path.join(group, "cgroup.procs"), "utf8")]
      : []),
  ];
  const pids = pidLists.flatMap((list) => list.split("\n").filter((line) => line !== "")).map(Number);
  for (const pid of pids) kill(pid);
  await waitForEnd(pids);
  if (existsSync(path.join(namespacesFolder, name))) await ip("netns", "delete", name);
  if (folder !== undefined && existsSync(group)) await rmdir(group);
  await rm(path.join(etcFolder, name), { recursive: true, force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

/** Waits for killed processes to end: the kernel removes a group only after its last process. */
async function waitForEnd(pids: readonly number[]): Promise<void> {
  const giveUpAt = Date.now() + commandLimitMs;
  while (pids.some((pid) => isRunning(pid))) {
    if (Date.now() > giveUpAt) throw new Error(`Processes ${pids.join(", ")} did not end after SIGKILL.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

let foundFolder: Promise<string | undefined> | undefined;

function processorFolder(): Promise<string | undefined> {
  foundFolder ??= findProcessorFolder();
  return foundFolder;
}

async function findProcessorFolder(): Promise<string | undefined> {
  for (const folder of processorFolders) {
    const probe = path.join(folder, `${prefix}-probe-${process.pid}`);
    try {
      await mkdir(probe);
      const files = await readdir(probe);
      await rmdir(probe);
      if (files.includes("cpu.cfs_quota_us") || files.includes("cpu.max")) return folder;
    } catch {
      // Not mounted or not writable: try the next one.
    }
  }
  return undefined;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // none has been created on this machine yet
  }
}

async function ip(...args: string[]): Promise<string> {
  const { stdout } = await run("ip", args, { timeout: commandLimitMs });
  return stdout;
}
