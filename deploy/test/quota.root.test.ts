// Threads within the limits of a cgroup: a quota of time and a set of processors, which need root to make.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { ingleProgram } from "./ingle-program.ts";

const mounts = execFileSync("cat", ["/proc/self/mountinfo"], { encoding: "utf8" });
/** Where groups that limit processors are mounted, and in which version. */
const old = / (\/\S+) \S+(?: \S+)* - cgroup \S+ \S*\bcpu\b/m.exec(mounts)?.[1];
const folder = path.join(old ?? "/sys/fs/cgroup", `ingle-quota-${process.pid}`);

function makeGroup(quotaUs: number): void {
  mkdirSync(folder);
  const limits: [file: string, text: string][] =
    old === undefined
      ? [["cpu.max", `${quotaUs} 100000`]]
      : [
          ["cpu.cfs_period_us", "100000"],
          ["cpu.cfs_quota_us", String(quotaUs)],
        ];
  for (const [file, text] of limits) writeFileSync(path.join(folder, file), text);
}

afterEach(() => rmdirSync(folder));

/** What `ingle doctor` says in the group. */
function doctor(): { threads: number; threads_reason: string; processors: { quota: number | null } } {
  const script = `echo $$ > ${folder}/cgroup.procs; exec "$@"`;
  const command = [process.execPath, ingleProgram, "doctor", "--json"];
  return JSON.parse(execFileSync("sh", ["-c", script, "sh", ...command], { encoding: "utf8" }));
}

it("a quota of half a processor and of one leaves one thread", () => {
  makeGroup(50_000);
  expect(doctor()).toMatchObject({ threads: 1, processors: { quota: 0.5 } });
  rmdirSync(folder);
  makeGroup(100_000);
  const { threads, threads_reason: reason, processors } = doctor();
  expect([threads, processors.quota]).toEqual([1, 1]);
  if (availableParallelism() > 1) expect(reason).toMatch(/^a quota allows .* 1 of \d+ processors$/);
});
