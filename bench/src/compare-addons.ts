// Compares the speed of two builds of the addon, such as the prebuilt package and the build of a checkout:
//
//   tsx bench/src/compare-addons.ts ADDON OTHER MODEL [ROUNDS]
//
// Each build runs in its own process with the model loaded, and the two alternate; every round starts new processes. The figures are
// processor time of one compute thread, which other work on the machine disturbs less than elapsed time; each ratio compares two
// consecutive measurements.
// Exits with 1 if ADDON is more than 2 % slower.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { addonWork } from "./addon-work.ts";
import { median } from "./statistics.ts";

const slowdownMax = 0.02;
const roundsDefault = 16;
const pairsPerProcess = 3;

const [addonPath = "", otherPath = "", model = "", roundsText = String(roundsDefault)] =
  process.argv.slice(2);
const [addon, other] = [path.resolve(addonPath), path.resolve(otherPath)];
const rounds = Number(roundsText);
if (![addon, other, model].every((file) => existsSync(file)) || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    "Usage: tsx bench/src/compare-addons.ts ADDON OTHER MODEL [ROUNDS]; ADDON and OTHER are .node files.",
  );
  process.exit(2);
}

/** Microseconds of processor time for each kind of work, by its name. */
type Times = Record<string, number>;

async function startChild(file: string): Promise<ChildProcess> {
  const child = fork(new URL("compare-addons-child.ts", import.meta.url), [file, model], {
    execArgv: ["--import", "tsx"],
  });
  child.once("exit", (code) => {
    if (code === 0) return;
    console.error(`The process of ${file} ended with ${code}.`);
    process.exit(1);
  });
  await once(child, "message");
  return child;
}

async function measure(child: ChildProcess): Promise<Times> {
  return await new Promise((resolve) => {
    child.once("message", (times: Times) => resolve(times));
    child.send("measure");
  });
}

const ratios = new Map<string, number[]>(Object.keys(addonWork).map((name) => [name, []]));

/** Compares two new processes: where their memory lies in the machine alone makes one of them faster by up to 15 %. */
async function compareProcesses(isOtherFirst: boolean): Promise<void> {
  const first = await startChild(isOtherFirst ? other : addon);
  const second = await startChild(isOtherFirst ? addon : other);
  for (let pair = 0; pair < pairsPerProcess; pair += 1) {
    const times = [await measure(first), await measure(second)] as const;
    const [own, theirs] = isOtherFirst ? [times[1], times[0]] : times;
    for (const [name, values] of ratios)
      values.push((theirs[name] ?? Number.NaN) / (own[name] ?? Number.NaN));
  }
  for (const child of [first, second]) {
    child.disconnect();
    await once(child, "exit");
  }
}

for (let round = 0; round < rounds; round += 1) await compareProcesses(round % 2 === 1);
for (const [name, values] of ratios)
  console.log(
    `${name}: ${(median(values) * 100).toFixed(1)} % of the other's speed (median of ${values.length} pairs)`,
  );
if ([...ratios.values()].some((values) => !(median(values) >= 1 - slowdownMax))) process.exitCode = 1;
