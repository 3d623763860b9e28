// The programs that Ingle is compared with, in bench/peers: llama-server, llama-bench and llama-mtmd-cli, built from the same
// pinned source without patches and with upstream's build settings; and node-llama-cpp with its prebuilt binary.
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { BenchError } from "./bench-error.ts";
import { runProgram } from "./child-process.ts";
import { packageFolder, peersFolder } from "./workspace.ts";

export const nodeLlamaCppVersion = "3.22.1";

const sourceFolder = path.join(peersFolder, "llama.cpp");
/** INGLE_GPU, as for our own build: the peers are built for the same GPU. Metal is upstream's default on macOS. */
const gpu = ["cuda", "vulkan"].find((name) => name === process.env["INGLE_GPU"]);
/** INGLE_CPU, as for our own build: programs for every processor with AVX2, also where this one could do more. */
export const cpu = ["x86-64-v3"].find((name) => name === process.env["INGLE_CPU"]);
/** Suffix of a folder with programs: one folder per GPU and kind of processor. */
export const buildSuffix = [gpu, cpu].map((name) => (name === undefined ? "" : `-${name}`)).join("");
const buildFolder = path.join(peersFolder, `build${buildSuffix}`);
const nodeLlamaCppFolder = path.join(peersFolder, "node-llama-cpp");

/** Compiling all of llama.cpp takes half an hour on two old cores. */
const buildLimitMs = 3 * 3_600_000;
const installLimitMs = 900_000;
const gitLimitMs = 120_000;

/** Upstream's default build, without parts that need the network or are not measured. */
const cmakeOptions = [
  "-DCMAKE_BUILD_TYPE=Release",
  ...["LLAMA_OPENSSL", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_UI"].map(off),
  off("LLAMA_USE_PREBUILT_UI"),
];

/** Packages with node-llama-cpp's binaries for this machine's processor, by Node's names of platform and architecture. */
const prebuiltPackages: Readonly<Record<string, string>> = {
  "linux-x64": "@node-llama-cpp/linux-x64",
  "linux-arm64": "@node-llama-cpp/linux-arm64",
  "darwin-arm64": "@node-llama-cpp/mac-arm64-metal",
  "darwin-x64": "@node-llama-cpp/mac-x64",
};

export interface PeerOptions {
  /** Called with a description of each long step. */
  say: (line: string) => void;
  signal: AbortSignal;
}

type LlamaProgram = "llama-server" | "llama-bench" | "llama-batched-bench" | "llama-mtmd-cli";

export function llamaProgram(name: LlamaProgram): string {
  return path.join(buildFolder, "bin", name);
}

/** The file to `import()` for node-llama-cpp. */
export function nodeLlamaCppEntry(): string {
  return path.join(nodeLlamaCppFolder, "node_modules", "node-llama-cpp", "dist", "index.js");
}

/** Builds these programs unless they exist. Throws BenchError if a tool is missing or fails. */
export async function ensureLlamaPrograms(
  options: PeerOptions,
  programs: readonly LlamaProgram[],
): Promise<void> {
  await ensureSource(options);
  if (programs.every((name) => existsSync(llamaProgram(name)))) return;
  options.say(`Building ${programs.join(" and ")}; this takes minutes …`);
  await buildPrograms(programs, { source: sourceFolder, folder: buildFolder }, options);
}

/** Builds programs of a llama.cpp checkout; without changes since the last build, this takes a second. Throws BenchError. */
export async function buildPrograms(
  programs: readonly string[],
  { source, folder, settings = [] }: { source: string; folder: string; settings?: readonly string[] },
  { signal }: PeerOptions,
): Promise<void> {
  await mkdir(peersFolder, { recursive: true });
  const limits = { cwd: peersFolder, limitMs: buildLimitMs, signal };
  // A folder that is already configured keeps its generator.
  const isConfigured = existsSync(path.join(folder, "CMakeCache.txt"));
  const generator = !isConfigured && (await hasNinja(signal)) ? ["-G", "Ninja"] : [];
  const gpuOptions = gpu === undefined ? [] : [`-DGGML_${gpu.toUpperCase()}=ON`];
  // Without this machine's own features, llama.cpp's default is AVX2.
  const cpuOptions = cpu === undefined ? [] : [off("GGML_NATIVE")];
  const all = [...generator, ...cmakeOptions, ...gpuOptions, ...cpuOptions, ...settings];
  await runProgram("cmake", ["-S", source, "-B", folder, ...all], limits);
  const jobs = String(availableParallelism());
  await runProgram("cmake", ["--build", folder, "--target", ...programs, "--parallel", jobs], limits);
}

/** Upstream's release, unpatched. A checkout of another commit is replaced, and its build with it. */
async function ensureSource({ say, signal }: PeerOptions): Promise<void> {
  const { commit } = await readPin();
  const git = async (cwd: string, ...args: string[]): Promise<string> =>
    (await runProgram("git", args, { cwd, limitMs: gitLimitMs, signal })).trim();
  if (existsSync(sourceFolder)) {
    if ((await git(sourceFolder, "rev-parse", "HEAD")) === commit) {
      const changes = await git(sourceFolder, "status", "--porcelain", "--untracked-files=no");
      if (changes === "") return;
      throw new BenchError("bench/peers/llama.cpp was changed; delete bench/peers to compare with upstream.");
    }
    await rm(buildFolder, { recursive: true, force: true });
  }
  say("Unpacking llama.cpp …");
  const fresh = `${sourceFolder}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(peersFolder, { recursive: true });
  await git(peersFolder, "-c", "advice.detachedHead=false", "clone", "--quiet", bundlePath(), fresh);
  const found = await git(fresh, "rev-parse", "HEAD");
  if (found !== commit)
    throw new BenchError(`The bundle holds commit ${found}, but ${commit} is pinned; install again.`);
  await rm(sourceFolder, { recursive: true, force: true });
  await rename(fresh, sourceFolder);
}

/** Installs node-llama-cpp unless it exists. Throws BenchError. */
export async function ensureNodeLlamaCpp({ say, signal }: PeerOptions): Promise<void> {
  const prebuilt = prebuiltPackages[`${process.platform}-${process.arch}`];
  if (prebuilt === undefined)
    throw new BenchError("The benchmark knows no prebuilt node-llama-cpp for this machine.");
  if (existsSync(nodeLlamaCppEntry())) return;
  say(`Installing node-llama-cpp ${nodeLlamaCppVersion} …`);
  const packages = ["node-llama-cpp", prebuilt].map((name) => `${name}@${nodeLlamaCppVersion}`);
  await installPackages(packages, nodeLlamaCppFolder, signal);
}

/** Installs packages of the npm registry into a folder of their own, outside the workspace. Throws BenchError. */
export async function installPackages(
  packages: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Its own package.json keeps npm inside this folder.
  await writeFile(path.join(folder, "package.json"), '{ "private": true }\n');
  // Optional packages are the binaries of all platforms; install scripts would only look for a compiler.
  const flags = ["--no-save", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"];
  await runProgram("npm", ["install", ...flags, ...packages], {
    cwd: folder,
    limitMs: installLimitMs,
    signal,
  });
}

/** Versions of the peers, for the report. */
export async function readPin(): Promise<{ release: string; commit: string }> {
  const file = path.join(packageFolder("@ingle/llama.cpp"), "package.json");
  const manifest: { "llama.cpp": { release: string; commit: string } } = JSON.parse(
    await readFile(file, "utf8"),
  );
  return manifest["llama.cpp"];
}

/** By path, because the package's `exports` hide everything but its entry. */
function bundlePath(): string {
  const carrier = path.join(packageFolder("@ingle/llama.cpp"), "node_modules", "node-llama-cpp");
  return path.join(carrier, "llama", "gitRelease.bundle");
}

async function hasNinja(signal: AbortSignal): Promise<boolean> {
  try {
    await runProgram("ninja", ["--version"], { limitMs: gitLimitMs, signal });
    return true;
  } catch {
    signal.throwIfAborted();
    return false; // make is used instead, which takes longer
  }
}

function off(name: string): string {
  return `-D${name}=OFF`;
}
