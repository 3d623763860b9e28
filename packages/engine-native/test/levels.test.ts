// Which addon a processor is given, where there are several.
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addonFor, levelFor, levels, processorFlags } from "../levels.js";

/** What Linux shows of processors that people have, shortened to what levels ask for. */
const processors = {
  // of 2003
  k8: "fpu sse sse2 lm 3dnow",
  nehalem: "sse2 lm pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm",
  haswell: "sse2 lm pni ssse3 cx16 sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm fma bmi1 avx2 bmi2",
  "zen 4":
    "sse2 lm pni ssse3 cx16 sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm fma bmi1 avx2 bmi2 avx512f avx512dq avx512cd avx512bw avx512vl",
  // AVX-512 without the rest of the fourth level
  "knights landing":
    "sse2 lm pni ssse3 cx16 sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm fma bmi1 avx2 bmi2 avx512f avx512cd",
};
const flagsOf = (name: keyof typeof processors): ReadonlySet<string> => new Set(processors[name].split(" "));

describe("levelFor", () => {
  it.each([
    ["k8", "x86-64"],
    ["nehalem", "x86-64-v2"],
    ["haswell", "x86-64-v3"],
    ["knights landing", "x86-64-v3"],
    ["zen 4", "x86-64-v4"],
  ] as const)("gives a %s the addon of %s", (processor, level) => {
    expect(levelFor(levels, flagsOf(processor))).toBe(level);
  });

  it("takes the next lower level where the processor's own was not built", () => {
    expect(levelFor(["x86-64", "x86-64-v3"], flagsOf("nehalem"))).toBe("x86-64");
    expect(levelFor(["x86-64-v4", "x86-64", "x86-64-v3"], flagsOf("haswell"))).toBe("x86-64-v3");
  });

  it("gives none to a processor that is below them all", () => {
    expect(levelFor(["x86-64-v3", "x86-64-v4"], flagsOf("nehalem"))).toBeUndefined();
  });

  it("gives an unknown processor the lowest", () => {
    expect(levelFor(["x86-64-v3", "x86-64"], undefined)).toBe("x86-64");
  });
});

describe("addonFor", () => {
  let build: string;
  beforeEach(async () => {
    build = await mkdtemp(path.join(tmpdir(), "ingle-levels-"));
  });
  afterEach(async () => {
    await rm(build, { recursive: true });
  });

  it("is the build's own addon where no levels were built", () => {
    expect(addonFor(build, flagsOf("haswell"))).toBe(path.join(build, "Release", "ingle.node"));
  });

  it("is that of the level, and an error names the levels where the processor runs none", async () => {
    await mkdir(path.join(build, "levels"));
    for (const level of ["x86-64-v3", "x86-64-v4"])
      await writeFile(path.join(build, "levels", `${level}.node`), "");
    expect(addonFor(build, flagsOf("haswell"))).toBe(path.join(build, "levels", "x86-64-v3.node"));
    expect(() => addonFor(build, flagsOf("nehalem"))).toThrow(
      "runs none of the levels that the addon was built for: x86-64-v3, x86-64-v4.",
    );
  });
});

describe("processorFlags", () => {
  it.runIf(process.platform === "linux" && process.arch === "x64")(
    "finds this processor's features, which every x86-64 has some of",
    () => {
      expect(processorFlags()?.has("sse2")).toBe(true);
      expect(processorFlags()?.has("")).toBe(false);
    },
  );

  it("knows nothing of a system without /proc/cpuinfo, or of another processor's", async () => {
    expect(processorFlags("/no/such/file")).toBeUndefined();
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-cpuinfo-"));
    await writeFile(path.join(folder, "cpuinfo"), "Features\t: fp asimd\n");
    expect(processorFlags(path.join(folder, "cpuinfo"))).toBeUndefined();
    await rm(folder, { recursive: true });
  });
});
