// Builds the addon with cmake-js: chooses the backend and reports missing tools. A finished build is left alone: ninja or
// make sees that nothing changed.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { addonOf, levels } from "./levels.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const sanitizer = process.env["INGLE_SANITIZE"] ?? "";
// A sanitizer's build has its own folder, so that switching between builds compiles nothing again.
const buildDir = path.join(here, sanitizer === "" ? "build" : `build-${sanitizer}`);
const gpus = ["cpu", "cuda", "metal", "vulkan"] as const;
type Gpu = (typeof gpus)[number];

/** Ends the build with a message instead of a stack trace. */
function stop(sentence: string): never {
  console.error(`\n${sentence}\n`);
  process.exit(1);
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** `auto` is CUDA only if there are both its compiler and a device: with only one of them, something would fail later. */
function chooseGpu(): Gpu {
  const asked = process.env["INGLE_GPU"] ?? "auto";
  if (asked === "auto") {
    if (process.platform === "darwin") return "metal";
    return runs("nvcc", "--version") && runs("nvidia-smi", "-L") ? "cuda" : "cpu";
  }
  const gpu = gpus.find((name) => name === asked);
  return gpu ?? stop(`INGLE_GPU=${asked} is unknown. Use auto, ${gpus.join(", ")}.`);
}

/** `native` is this machine's processor. The others are levels of x86-64, by g++'s and clang's names. */
function chooseCpus(): readonly string[] {
  const asked = process.env["INGLE_CPU"] ?? "native";
  if (asked === "native") return [asked];
  const cpus = asked.split(",");
  if (!cpus.every((cpu) => levels.includes(cpu)))
    stop(`INGLE_CPU=${asked} is unknown. Use native, or a comma-separated list of ${levels.join(", ")}.`);
  if (process.arch !== "x64" || process.platform === "win32")
    stop(`INGLE_CPU=${asked} needs g++ or clang on an x86-64 processor. Leave it out on this machine.`);
  return cpus;
}

function checkTools(gpu: Gpu): void {
  const install = {
    linux: "On Debian or Ubuntu: sudo apt-get install g++ cmake ninja-build",
    darwin: "Run: xcode-select --install && brew install cmake ninja",
    win32: "Install Visual Studio's C++ Build Tools and CMake (winget install Kitware.CMake)",
  }[process.platform as string];
  if (!runs("cmake", "--version"))
    stop(`CMake was not found; the native engine is built with it. ${install ?? ""}`);
  const own = process.env["CXX"] ?? "";
  const compilers = own === "" ? ["c++", "g++", "clang++"] : [own];
  if (process.platform !== "win32" && !compilers.some((compiler) => runs(compiler, "--version"))) {
    stop(
      `No C++ compiler was found; the native engine is built with one (g++ 12, or clang 19 with libstdc++, 20 with libc++). ${install ?? ""}`,
    );
  }
  if (gpu === "cuda" && !runs("nvcc", "--version")) {
    stop("INGLE_GPU=cuda needs NVIDIA's CUDA toolkit: nvcc was not found in PATH.");
  }
}

function llamaCppDir(): string {
  const own = process.env["LLAMA_CPP_DIR"] ?? "";
  const dir =
    own !== ""
      ? path.resolve(own)
      : path.join(
          path.dirname(fileURLToPath(import.meta.resolve("@ingle/llama.cpp/package.json"))),
          "source",
        );
  if (existsSync(path.join(dir, "include", "llama.h"))) return dir;
  return stop(
    own !== ""
      ? `LLAMA_CPP_DIR=${own} holds no llama.cpp sources (include/llama.h is missing).`
      : "llama.cpp's sources are missing. Run `npx --yes pnpm@12 build` in the root of the checkout.",
  );
}

/** The folders of a llama.cpp checkout that determine the layout of a model's saved state. */
const sourceFolders = ["include", "src", path.join("ggml", "include"), path.join("ggml", "src")];

/**
 * Identifies llama.cpp's sources as they are compiled, including patches and added files, which a commit does not cover. The
 * pinned sources have a stamp of everything they were made from; the files of other checkouts are hashed.
 */
function sourcesId(dir: string): string {
  const hash = createHash("sha256");
  const stamp = path.join(dir, ".ingle-stamp");
  if (existsSync(stamp)) return hash.update(readFileSync(stamp)).digest("hex");
  for (const folder of sourceFolders.map((name) => path.join(dir, name)).filter((each) => existsSync(each))) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
      const file = path.join(folder, name);
      if (statSync(file).isFile()) hash.update(`${name}\0`).update(readFileSync(file));
    }
  }
  return hash.digest("hex");
}

/** The CMake options of this build. If the cache has other values, CMake is configured again. */
function cmakeOptions(gpu: Gpu, cpu: string): Record<string, string> {
  const dir = llamaCppDir();
  return {
    INGLE_LLAMA_CPP_DIR: dir,
    INGLE_LLAMA_SOURCES: sourcesId(dir),
    INGLE_GPU: gpu,
    INGLE_CPU: cpu,
    INGLE_KV_QUANTS_ALL: process.env["INGLE_KV_QUANTS"] === "all" ? "ON" : "OFF",
    INGLE_SANITIZE: sanitizer,
  };
}

function isConfigured(options: Record<string, string>): boolean {
  const cacheFile = path.join(buildDir, "CMakeCache.txt");
  if (!existsSync(cacheFile)) return false;
  const cache = readFileSync(cacheFile, "utf8").split("\n");
  return Object.entries(options).every(([name, value]) =>
    cache.some((line) => line.startsWith(`${name}:`) && line.endsWith(`=${value}`)),
  );
}

function cmakeJs(command: string, options: Record<string, string>): void {
  const bin = createRequire(import.meta.url).resolve("cmake-js/bin/cmake-js");
  const args = [
    bin,
    command,
    "--out",
    buildDir,
    // Ninja is parallel by default; make would compile one file at a time.
    "--parallel",
    String(availableParallelism()),
    ...Object.entries(options).map(([name, value]) => `--CD${name}=${value}`),
  ];
  try {
    execFileSync(process.execPath, args, { cwd: here, stdio: "inherit" });
  } catch {
    stop(`The native build failed (cmake-js ${command}); the compiler's messages are above.`);
  }
}

const gpu = chooseGpu();
checkTools(gpu);
// All levels are built in one folder, one after the other, so that everything but the kernels is compiled once. index.js loads
// the addon of the highest level that its processor runs.
rmSync(path.join(buildDir, "levels"), { recursive: true, force: true });
for (const cpu of chooseCpus()) {
  const options = cmakeOptions(gpu, cpu);
  if (!isConfigured(options)) cmakeJs("configure", options);
  cmakeJs("build", {});
  if (cpu === "native" || sanitizer !== "") continue;
  mkdirSync(path.join(buildDir, "levels"), { recursive: true });
  copyFileSync(path.join(buildDir, "Release", "ingle.node"), addonOf(cpu, buildDir));
}
