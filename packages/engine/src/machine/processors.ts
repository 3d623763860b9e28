// Which processors this process may compute with. Linux tells it in files: /proc has the affinity (also a container's cpuset), /sys the
// cores with their siblings and kinds, and the cgroups a quota of time. macOS and Windows are asked by the addon. Node 20 itself knows
// nothing of quotas, and no version knows cores.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";

export interface Processors {
  /** Number of logical processors that this process may run on. */
  logical: number;
  /** The cores that they belong to, without those that save energy where there are both: each runs one thread at full speed. */
  performanceCores: number;
  /** How many processors' time the container or service may use, if that is limited; may be a fraction. */
  quota?: number | undefined;
}

/**
 * @param nativeCores - What the addon says of `performanceCores`; 0 where files say it, or if it is unknown.
 * @param root - The folder that stands for `/`, for tests.
 */
export function findProcessors(nativeCores = 0, root = "/"): Processors {
  const read = (...parts: string[]): string | undefined => readText(path.join(root, ...parts));
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(read("proc/self/status") ?? "")?.[1];
  if (allowed === undefined) {
    const logical = availableParallelism();
    return { logical, performanceCores: nativeCores > 0 ? Math.min(nativeCores, logical) : logical };
  }
  const cpus = parseCpuList(allowed);
  const cores = new Set(fastCpus(cpus, read).map((cpu) => siblings(cpu, read)));
  return { logical: cpus.length, performanceCores: cores.size, quota: findQuota(read) };
}

type Read = (...parts: string[]) => string | undefined;

/** Those of a list such as `0-3,8`. */
function parseCpuList(text: string): number[] {
  return text
    .split(",")
    .filter((range) => range !== "")
    .flatMap((range) => {
      const [first = 0, last = first] = range.split("-").map(Number);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    });
}

const cpuFolder = "sys/devices/system/cpu";

/** The processors without those of efficiency cores: Intel's kinds are listed, ARM's have capacities. */
function fastCpus(cpus: readonly number[], read: Read): readonly number[] {
  const listed = new Set(parseCpuList(read("sys/devices/cpu_core/cpus") ?? ""));
  const capacities = new Map(cpus.map((cpu) => [cpu, capacity(cpu, read)]));
  const largest = Math.max(...capacities.values());
  // An efficiency core has a fifth to two fifths of the capacity of the fastest, the others of a mixed processor more than half.
  const isFast = (cpu: number): boolean =>
    listed.size > 0 ? listed.has(cpu) : 2 * (capacities.get(cpu) ?? 0) >= largest;
  const fast = cpus.filter(isFast);
  return fast.length > 0 ? fast : cpus;
}

/** How much a processor computes in a time; 0 where it is not told, since all are alike. */
function capacity(cpu: number, read: Read): number {
  return Number(read(cpuFolder, `cpu${cpu}`, "cpu_capacity") ?? 0);
}

/** The processors of one core, as a name for the core. */
function siblings(cpu: number, read: Read): string {
  const topology = [cpuFolder, `cpu${cpu}`, "topology"];
  return read(...topology, "core_cpus_list") ?? read(...topology, "thread_siblings_list") ?? String(cpu);
}

/** The smallest quota of the process's cgroup and of those around it, in either version. */
function findQuota(read: Read): number | undefined {
  const groups = read("proc/self/cgroup") ?? "";
  const quotas = (read("proc/self/mountinfo") ?? "").split("\n").flatMap((line) => {
    const [, , , mountRoot = "", mountPoint = "", ...more] = line.split(" ");
    const [type = "", , options = ""] = more.slice(more.indexOf("-") + 1);
    const group = ownGroup(groups, type, options);
    if (group === undefined) return [];
    // A container may see only what is mounted, its own group, whatever its path on the host is.
    const inside = path.posix.relative(mountRoot, group);
    const folders = inside === "" || inside.startsWith("..") ? [] : inside.split("/");
    return [...folders.keys(), folders.length].map((depth) =>
      groupQuota(path.posix.join(mountPoint, ...folders.slice(0, depth)), read),
    );
  });
  const limited = quotas.filter((quota) => quota !== undefined);
  return limited.length === 0 ? undefined : Math.min(...limited);
}

/** The path of the process's group in a mounted hierarchy; undefined for one that does not limit processors. */
function ownGroup(groups: string, type: string, options: string): string | undefined {
  if (type === "cgroup2") return /^0::(\/.*)$/m.exec(groups)?.[1];
  if (type !== "cgroup" || !options.split(",").includes("cpu")) return undefined;
  return /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1];
}

/** The processors' worth of time that a group may use; undefined if it is not limited. */
function groupQuota(folder: string, read: Read): number | undefined {
  const [time, period] = (
    read(folder, "cpu.max") ??
    `${read(folder, "cpu.cfs_quota_us") ?? "max"} ${read(folder, "cpu.cfs_period_us") ?? "0"}`
  ).split(" ");
  const quota = Number(time) / Number(period);
  return quota > 0 && Number.isFinite(quota) ? quota : undefined;
}

/** The text of a file without its last line break; undefined if it cannot be read. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trimEnd();
  } catch {
    return undefined;
  }
}
