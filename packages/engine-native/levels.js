// Levels of x86-64, and which of the addons built for them this processor runs.
//
// The features of each level are those of the x86-64 psABI, by their names in Linux's /proc/cpuinfo.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The features that each level adds to the previous one, from the lowest level up. */
const features = new Map([
  ["x86-64", []],
  ["x86-64-v2", ["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"]],
  ["x86-64-v3", ["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"]],
  ["x86-64-v4", ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]],
]);

export const levels = [...features.keys()];

/**
 * The highest built level that a processor with these features runs; the lowest built level for an unknown processor.
 *
 * @param {readonly string[]} built
 * @param {ReadonlySet<string> | undefined} flags
 */
export function levelFor(built, flags) {
  if (flags === undefined) return levels.find((level) => built.includes(level));
  const firstMissing = [...features].findIndex(([, added]) => added.some((feature) => !flags.has(feature)));
  const runs = firstMissing < 0 ? levels : levels.slice(0, firstMissing);
  return runs.findLast((level) => built.includes(level));
}

/** This processor's features as reported by Linux; undefined on other systems. */
export function processorFlags(cpuinfo = "/proc/cpuinfo") {
  const text = existsSync(cpuinfo) ? readFileSync(cpuinfo, "utf8") : "";
  const line = /^flags\s*:(.*)$/m.exec(text)?.[1];
  return line === undefined ? undefined : new Set(line.trim().split(/\s+/));
}

/** Path of the addon that is built for a level. */
export function addonOf(level, buildDir) {
  return path.join(buildDir, "levels", `${level}.node`);
}

/**
 * Path of the addon for this processor: the one of the highest level it runs, or, if none were built for levels, the one built
 * for the build machine's processor. Throws if the processor runs none of the levels.
 */
export function addonFor(buildDir, flags = processorFlags()) {
  const folder = path.join(buildDir, "levels");
  if (!existsSync(folder)) return path.join(buildDir, "Release", "ingle.node");
  const built = levels.filter((level) => readdirSync(folder).includes(`${level}.node`));
  const level = levelFor(built, flags);
  if (level !== undefined) return addonOf(level, buildDir);
  throw new Error(
    `This processor runs none of the levels that the addon was built for: ${built.join(", ")}.`,
  );
}
