// Builds the addon with cmake-js: chooses the backend and reports missing tools. A finished build is left alone: ninja or make
// sees that nothing changed. A prebuilt package of the same sources is used as it is. `build.ts FOLDER` builds in that folder.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildFolder, findAddon } from "./find-addon.js";
import { runWithProgress } from "./progress.ts";
import { engineSourcesId, llamaSourcesId } from "./sources.ts";

const here = path.dirname(fileURLToPath(import.meta.url));
const sanitizer = process.env["INGLE_SANITIZE"] ?? "";
const gpus = ["cpu", "cuda", "metal", "vulkan"] as const;
type Gpu = (typeof gpus)[number];
const buildDir = path.resolve(process.argv[2] ?? usualDir());

/** Builds with a sanitizer or for a requested GPU have their own folders, so that switching between builds recompiles nothing. */
function usualDir(): string {
  return sanitizer === ""
    ? buildFolder(here, process.env["INGLE_GPU"])
    : path.join(here, `build-${sanitizer}`);
}

/** Ends the build with a message instead of a stack trace. */
function stop(sentence: string): never {
  console.error(`\n${sentence}\n`);
  process.exit(1);
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** `auto` selects CUDA only if both its compiler and a device are present: with only one of them, something would fail later. */
function chooseGpu(): Gpu {
  const asked = process.env["INGLE_GPU"] ?? "auto";
  if (asked === "auto") {
    if (process.platform === "darwin") return "metal";
    return runs("nvcc", "--version") && runs("nvidia-smi", "-L") ? "cuda" : "cpu";
  }
  const gpu = gpus.find((name) => name === asked);
  return gpu ?? stop(`INGLE_GPU=${asked} is unknown. Use auto, ${gpus.join(", ")}.`);
}

const levels = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"];

/**
 * `native` is this machine's processor, a level of x86-64 (by g++'s and clang's names) every processor of that level, and `all`
 * every processor: it has code for each kind, and loads the best when it starts.
 */
function chooseCpu(): string {
  const asked = process.env["INGLE_CPU"] ?? "native";
  if (asked === "native" || asked === "all") return asked;
  if (!levels.includes(asked))
    stop(`INGLE_CPU=${asked} is unknown. Use native, all, or one of ${levels.join(", ")}.`);
  if (process.arch !== "x64" || process.platform === "win32")
    stop(`INGLE_CPU=${asked} needs g++ or clang on an x86-64 processor. Leave it out on this machine.`);
  return asked;
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

/** llama.cpp with our patches and files, as prepared by vendor/llama.cpp/prepare.ts. */
function llamaCppDir(): string {
  const dir = path.join(
    path.dirname(fileURLToPath(import.meta.resolve("@ingle/llama.cpp/package.json"))),
    "source",
  );
  if (existsSync(path.join(dir, ".ingle-stamp"))) return dir;
  return stop("llama.cpp's sources are missing. Run `npx --yes pnpm@12 build` in the root of the checkout.");
}

/** The CMake options of this build. If the cache has other values, CMake is configured again. */
function cmakeOptions(gpu: Gpu, cpu: string): Record<string, string> {
  const dir = llamaCppDir();
  return {
    INGLE_LLAMA_CPP_DIR: dir,
    INGLE_LLAMA_SOURCES: llamaSourcesId(dir),
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

async function cmakeJs(
  what: string,
  command: "configure" | "build",
  options: Record<string, string>,
): Promise<void> {
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
  if (!(await runWithProgress(what, process.execPath, args, here)))
    stop(`The native build failed (cmake-js ${command}); the compiler's messages are above.`);
}

/** Environment variables that request a build from source. */
const ownBuild = ["INGLE_GPU", "INGLE_CPU", "INGLE_KV_QUANTS", "INGLE_SANITIZE"];

/**
 * The prebuilt addon to use instead of compiling: if this checkout has no build yet and the package was built from the same
 * sources.
 */
function prebuiltAddon(): string | undefined {
  const isAsked = process.env["INGLE_BUILD"] === "source" || process.argv[2] !== undefined;
  if (isAsked || existsSync(buildDir) || ownBuild.some((name) => (process.env[name] ?? "") !== ""))
    return undefined;
  try {
    const addon = findAddon(here);
    const manifest: { ingle?: { sources?: string } } = JSON.parse(
      readFileSync(path.join(path.dirname(addon), "package.json"), "utf8"),
    );
    return manifest.ingle?.sources === engineSourcesId(here, llamaCppDir()) ? addon : undefined;
  } catch {
    return undefined; // none is installed
  }
}

const prebuilt = prebuiltAddon();
if (prebuilt === undefined) {
  const gpu = chooseGpu();
  checkTools(gpu);
  const options = cmakeOptions(gpu, chooseCpu());
  if (!isConfigured(options)) {
    console.log("Configuring the engine's build: a few seconds.");
    await cmakeJs("Configuring", "configure", options);
  }
  await cmakeJs("Compiling the engine", "build", {});
} else {
  console.log(
    `Nothing is compiled: ${prebuilt} was built from the same sources. INGLE_BUILD=source compiles them here.`,
  );
}
