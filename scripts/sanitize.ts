// `pnpm sanitize [address|undefined|thread …]`: builds the addon and the C++ tests with a sanitizer, each in a folder of its
// own, runs the tests, and then the addon in Node from end to end. Without a name: all three, one after the other.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import { tinyModel } from "@ingle/fixtures";

import { root } from "./files.ts";
import { step, stop } from "./step.ts";

/** What a sanitizer needs besides its build. */
interface Sanitizer {
  readonly name: string;
  /** Preloaded into Node: loading it with the addon would be too late. */
  readonly library: string;
  readonly options: Readonly<Record<string, string>>;
}

function suppressions(name: string): string {
  return `suppressions=${path.join(root, "scripts", "sanitizers", name)}`;
}

const sanitizers: readonly Sanitizer[] = [
  {
    name: "address",
    library: "libasan.so",
    options: {
      ASAN_OPTIONS: "detect_leaks=1:strict_string_checks=1",
      LSAN_OPTIONS: `${suppressions("leaks.txt")}:print_suppressions=0`,
    },
  },
  {
    name: "undefined",
    library: "libubsan.so",
    options: { UBSAN_OPTIONS: `${suppressions("undefined.txt")}:halt_on_error=1:print_stacktrace=1` },
  },
  {
    name: "thread",
    library: "libtsan.so",
    options: { TSAN_OPTIONS: `${suppressions("races.txt")}:second_deadlock_stack=1` },
  },
];

/** With more random address bits than this, ThreadSanitizer's memory collides with the program's. */
const addressBitsMax = 28;

/** The compiler's own copy, which the addon was linked against. */
function libraryFile(name: string): string {
  const compiler = process.env["CXX"] ?? "g++";
  const file = execFileSync(compiler, [`-print-file-name=${name}`], { encoding: "utf8" }).trim();
  return path.isAbsolute(file) ? file : stop(`${compiler} has no ${name}; install its sanitizers.`);
}

function checkMachine(chosen: readonly Sanitizer[]): void {
  if (process.platform !== "linux") stop("The sanitizers run on Linux with g++.");
  const bits = Number(readFileSync("/proc/sys/vm/mmap_rnd_bits", "utf8"));
  if (chosen.some(({ name }) => name === "thread") && bits > addressBitsMax) {
    stop(`ThreadSanitizer needs: sudo sysctl vm.mmap_rnd_bits=${addressBitsMax}`);
  }
}

async function sanitize({ name, library, options }: Sanitizer): Promise<void> {
  const env = { ...options, INGLE_SANITIZE: name, INGLE_GPU: "cpu" };
  const native = path.join("packages", "engine-native");
  step(`${name}: build`, [process.execPath, "--import", "tsx", path.join(native, "build.ts")], env);
  const vitest = path.join("node_modules", "vitest", "vitest.mjs");
  const tests = path.join(native, "test", "cpp.test.ts");
  step(`${name}: C++ tests`, [process.execPath, vitest, "run", tests], env);
  const addon = path.join(root, native, `build-${name}`, "Release", "ingle.node");
  for (const architecture of ["llama", "lfm2"] as const) {
    const model = await tinyModel({ architecture });
    step(
      `${name}: end to end with ${architecture}`,
      [process.execPath, "--import", "tsx", path.join("scripts", "sanitized-run.ts"), addon, model],
      { ...env, LD_PRELOAD: libraryFile(library) },
    );
  }
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !sanitizers.some((sanitizer) => sanitizer.name === name));
if (unknown.length > 0) stop(`No sanitizer is called ${unknown.join(", ")}: address, undefined or thread.`);
const chosen = sanitizers.filter(({ name }) => names.length === 0 || names.includes(name));
checkMachine(chosen);
const turbo = path.join(root, "node_modules", ".bin", "turbo");
step("llama.cpp's sources", [turbo, "run", "build", "--filter=@ingle/llama.cpp"], {});
for (const sanitizer of chosen) await sanitize(sanitizer);
