// Processors and quotas of several kinds of machines, as Linux describes them in files.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProcessors } from "./processors.ts";
import { chooseThreads } from "./threads.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "ingle-machine-"));
});
afterEach(() => rm(root, { recursive: true }));

type Files = Readonly<Record<string, string>>;

/** A machine with these files, of which the process may use the processors of the list. */
async function machine(allowed: string, ...parts: Files[]): Promise<void> {
  const status = { "proc/self/status": `Name:\tnode\nCpus_allowed:\tffff\nCpus_allowed_list:\t${allowed}\n` };
  for (const [name, text] of Object.entries(Object.assign({}, status, ...parts) as Files)) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${text}\n`);
  }
}

/** The siblings of each processor. */
function cores(siblings: readonly string[], file = "core_cpus_list"): Files {
  return Object.fromEntries(
    siblings.map((list, cpu) => [`sys/devices/system/cpu/cpu${cpu}/topology/${file}`, list]),
  );
}

function capacities(each: readonly number[]): Files {
  return Object.fromEntries(
    each.map((value, cpu) => [`sys/devices/system/cpu/cpu${cpu}/cpu_capacity`, String(value)]),
  );
}

/** The second thread of each of 4 cores comes after all first ones. */
const fourCores = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"];
/** Two cores with two threads, and four that save energy. */
const mixed = ["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"];

describe("the processors of a machine", () => {
  it.each<{ kind: string; allowed: string; files: Files[]; threads: number; logical: number }>([
    {
      kind: "whose cores run two threads",
      allowed: "0-7",
      files: [cores(fourCores)],
      threads: 4,
      logical: 8,
    },
    {
      kind: "of an older kernel",
      allowed: "0-7",
      files: [cores(fourCores, "thread_siblings_list")],
      threads: 4,
      logical: 8,
    },
    {
      kind: "of which a container has both threads of one core",
      allowed: "1,5",
      files: [cores(fourCores)],
      threads: 1,
      logical: 2,
    },
    {
      kind: "with Intel's two kinds of cores",
      allowed: "0-7",
      files: [cores(mixed), { "sys/devices/cpu_core/cpus": "0-3", "sys/devices/cpu_atom/cpus": "4-7" }],
      threads: 2,
      logical: 8,
    },
    {
      kind: "of whose two kinds only the slower one may be used",
      allowed: "4-7",
      files: [cores(mixed), { "sys/devices/cpu_core/cpus": "0-3" }],
      threads: 4,
      logical: 4,
    },
    {
      kind: "with ARM's three kinds of cores",
      allowed: "0-7",
      files: [capacities([250, 250, 250, 250, 870, 870, 870, 1024])],
      threads: 4,
      logical: 8,
    },
    { kind: "that tells nothing of cores", allowed: "0-2,8", files: [], threads: 4, logical: 4 },
  ])("$kind get a thread for each core made for speed", async ({ allowed, files, threads, logical }) => {
    await machine(allowed, ...files);
    expect(findProcessors(0, root)).toEqual({ logical, performanceCores: threads, quota: undefined });
    expect(chooseThreads(findProcessors(0, root)).threads).toBe(threads);
  });

  it("are as many as the addon says where no files tell", () => {
    expect(findProcessors(1, root).performanceCores).toBe(1);
    const { logical, performanceCores } = findProcessors(100_000, root); // more than this process may use
    expect(performanceCores).toBe(logical);
    expect(findProcessors(0, root).performanceCores).toBe(logical);
  });
});

const v2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
const v1 = (mountRoot: string): string =>
  `31 30 0:28 ${mountRoot} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n` +
  "32 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset";

describe("a quota", () => {
  it.each<{ kind: string; group: string; mounts: string; files: Files; quota: number; threads: number }>([
    {
      kind: "of a container that sees only its group",
      group: "0::/",
      mounts: v2,
      files: { "sys/fs/cgroup/cpu.max": "250000 100000" },
      quota: 2.5,
      threads: 2,
    },
    {
      kind: "of a service, in a slice that allows less",
      group: "0::/work.slice/ingle.service",
      mounts: v2,
      files: {
        "sys/fs/cgroup/work.slice/cpu.max": "300000 100000",
        "sys/fs/cgroup/work.slice/ingle.service/cpu.max": "600000 100000",
      },
      quota: 3,
      threads: 3,
    },
    {
      kind: "of less than one processor",
      group: "0::/",
      mounts: v2,
      files: { "sys/fs/cgroup/cpu.max": "20000 100000" },
      quota: 0.2,
      threads: 1,
    },
    {
      kind: "of the first version",
      group: "5:cpuset:/\n4:cpu,cpuacct:/ingle\n0::/",
      mounts: v1("/"),
      files: {
        "sys/fs/cgroup/cpu,cpuacct/ingle/cpu.cfs_quota_us": "400000",
        "sys/fs/cgroup/cpu,cpuacct/ingle/cpu.cfs_period_us": "200000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
      },
      quota: 2,
      threads: 2,
    },
    {
      kind: "of the first version, in a container whose group has its path on the host",
      group: "4:cpuacct,cpu:/docker/4f2a",
      mounts: v1("/docker/4f2a"),
      files: {
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
      },
      quota: 1.5,
      threads: 1,
    },
  ])("$kind limits the threads", async ({ group, mounts, files, quota, threads }) => {
    await machine("0-7", { "proc/self/cgroup": group, "proc/self/mountinfo": mounts }, files);
    const processors = findProcessors(0, root);
    expect(processors).toEqual({ logical: 8, performanceCores: 8, quota });
    expect(chooseThreads(processors)).toEqual({
      threads,
      reason: `a quota allows this container or service ${quota} of 8 processors`,
    });
  });

  it("that allows all of them changes nothing", async () => {
    const files = { "proc/self/cgroup": "0::/", "proc/self/mountinfo": v2 };
    for (const limit of ["max 100000", "800000 100000"]) {
      await machine("0-7", files, { "sys/fs/cgroup/cpu.max": limit });
      expect(chooseThreads(findProcessors(0, root))).toEqual({ threads: 8, reason: "one per core" });
    }
  });
});

it.runIf(process.platform === "linux")("a process that is held on one processor has one thread", async () => {
  const status = await readFile("/proc/self/status", "utf8");
  const [, first = "0"] = /^Cpus_allowed_list:\s*(\d+)/m.exec(status) ?? [];
  const module = JSON.stringify(new URL("processors.ts", import.meta.url).href);
  const script = `const { findProcessors } = await import(${module}); console.log(JSON.stringify(findProcessors()));`;
  const node = [process.execPath, "--import", "tsx", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)("taskset", ["--cpu-list", first, ...node]);
  expect(JSON.parse(stdout)).toMatchObject({ logical: 1, performanceCores: 1 });
});
