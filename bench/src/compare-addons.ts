// Compares the speed of two builds of the addon, such as the prebuilt package and the build of a checkout:
//
//   tsx bench/src/compare-addons.ts ADDON OTHER MODEL [PAIRS]
//
// Each build runs in its own process with the model loaded, and the two alternate. The figures are processor time of one compute
// thread, which other work on the machine disturbs less than elapsed time; each ratio compares two consecutive measurements.
// Exits with 1 if ADDON is more than 2 % slower.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { addonWork } from "./addon-work.ts";
import { median } from "./statistics.ts";

const slowdownMax = 0.02;
const pairsDefault = 40;

const [addon = "", other = "", model = "", pairsText = String(pairsDefault)] = process.argv.slice(2);
const pairs = Number(pairsText);
if (![addon, other, model].every((file) => existsSync(file)) || !Number.isInteger(pairs) || pairs < 1) {
  console.error(
    "Usage: tsx bench/src/compare-addons.ts ADDON OTHER MODEL [PAIRS]; ADDON and OTHER are .node files.",
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

const children = [await startChild(addon), await startChild(other)] as const;
const ratios = new Map<string, number[]>(Object.keys(addonWork).map((name) => [name, []]));
for (let pair = 0; pair < pairs; pair += 1) {
  const isSwapped = pair % 2 === 1;
  const first = await measure(children[isSwapped ? 1 : 0]);
  const second = await measure(children[isSwapped ? 0 : 1]);
  const [own, theirs] = isSwapped ? [second, first] : [first, second];
  for (const [name, values] of ratios) values.push((theirs[name] ?? Number.NaN) / (own[name] ?? Number.NaN));
}
for (const child of children) child.disconnect();
for (const [name, values] of ratios)
  console.log(
    `${name}: ${(median(values) * 100).toFixed(1)} % of the other's speed (median of ${pairs} pairs)`,
  );
if ([...ratios.values()].some((values) => !(median(values) >= 1 - slowdownMax))) process.exitCode = 1;
