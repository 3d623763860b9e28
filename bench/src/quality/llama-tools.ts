// llama.cpp's own measuring programs, built from the same patched source as Ingle, so that they know our types.
import { existsSync } from "node:fs";
import { cp, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { BenchError } from "../bench-error.ts";
import { plainEnvironment, runProgram } from "../child-process.ts";
import { buildPrograms, buildSuffix, type PeerOptions } from "../peers.ts";
import { packageFolder, peersFolder, workspaceFolder } from "../workspace.ts";

const tools = ["llama-perplexity", "llama-bench", "llama-batched-bench"] as const;
type LlamaTool = (typeof tools)[number];

/**
 * `patched` is what Ingle runs. In `uniform-3-bit` the type q3_kv rounds to evenly spaced levels in as many bits, to show
 * what our code gains.
 */
export type ToolBuild = "patched" | "uniform-3-bit";

const patchedSource = path.join(packageFolder("@ingle/llama.cpp"), "source");
const stampFile = ".ingle-stamp";
/** Built like the addon: ggml's own threads, one file. */
const settings = ["-DGGML_OPENMP=OFF", "-DBUILD_SHARED_LIBS=OFF"];
const benchLimitMs = 3_600_000;

/** Throws BenchError if the source does not exist yet, or a program is missing or fails. */
export async function ensureLlamaTools(build: ToolBuild, options: PeerOptions): Promise<void> {
  if (!existsSync(patchedSource))
    throw new BenchError("llama.cpp's source is not there yet; run `npx --yes pnpm@12 build` first.");
  options.say(`Building llama.cpp's measuring programs (${build}); the first time takes minutes …`);
  const source = build === "patched" ? patchedSource : await uniformSource();
  await buildPrograms(tools, { source, folder: buildFolder(build), settings }, options);
}

export function llamaTool(name: LlamaTool, build: ToolBuild): string {
  return path.join(buildFolder(build), "bin", name);
}

function buildFolder(build: ToolBuild): string {
  return path.join(peersFolder, `build-${build}${buildSuffix}`);
}

/** A copy of the patched source with the files of bench/uniform-3-bit over it. */
async function uniformSource(): Promise<string> {
  const copy = path.join(peersFolder, "llama.cpp-uniform-3-bit");
  const readStamp = async (folder: string): Promise<string> =>
    await readFile(path.join(folder, stampFile), "utf8").catch(() => "");
  if ((await readStamp(copy)) === "" || (await readStamp(copy)) !== (await readStamp(patchedSource))) {
    await rm(copy, { recursive: true, force: true });
    await cp(patchedSource, copy, { recursive: true, preserveTimestamps: true });
  }
  const files = path.join(workspaceFolder, "bench", "uniform-3-bit");
  // Keeps timestamps, so that unchanged files are not built again.
  await cp(files, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

/** What a measurement runs on. */
export interface ToolRun {
  model: string;
  threads: number;
  signal: AbortSignal;
  /** Types of the KV cache. Default f16. */
  kvTypeK?: string;
  kvTypeV?: string;
  build?: ToolBuild;
}

interface SpeedTest extends ToolRun {
  /** Prompt tokens, generated tokens, and tokens already in the context. */
  promptTokens?: number;
  replyTokens?: number;
  depth?: number;
}

/** Rounds of tests that take seconds; a filled context takes minutes. */
const roundsMax = 5;

export interface Speeds {
  promptTokensPerSecond?: number;
  tokensPerSecond?: number;
}

/** Runs llama-bench with flash attention. Throws BenchError, or the signal's reason. */
export async function measureSpeed({ signal, ...test }: SpeedTest): Promise<Speeds> {
  const { model, threads, promptTokens = 0, replyTokens = 0, depth = 0 } = test;
  const { kvTypeK = "f16", kvTypeV = "f16", build = "patched" } = test;
  const rounds = depth === 0 ? roundsMax : 1;
  const sizes = ["-p", promptTokens, "-n", replyTokens, "-d", depth, "-t", threads, "-r", rounds];
  const types = ["-fa", 1, "-ctk", kvTypeK, "-ctv", kvTypeV];
  const args = ["-m", model, ...sizes, ...types, "-o", "json"].map(String);
  const output = await runProgram(llamaTool("llama-bench", build), args, {
    env: plainEnvironment(),
    limitMs: benchLimitMs,
    signal,
  });
  return parseSpeeds(output);
}

/** Reads llama-bench's JSON: a prompt test, a generation test, or both. Throws BenchError. */
export function parseSpeeds(output: string): Speeds {
  const speeds: Speeds = {};
  for (const { n_prompt, n_gen, avg_ts } of parseTests(output)) {
    if (n_prompt > 0 && n_gen === 0) speeds.promptTokensPerSecond = avg_ts;
    if (n_gen > 0 && n_prompt === 0) speeds.tokensPerSecond = avg_ts;
  }
  if (Object.keys(speeds).length === 0)
    throw new BenchError(`llama-bench reported no speed: ${output.slice(0, 300)}`);
  return speeds;
}

/** The tests in llama-bench's JSON. Throws BenchError. */
export function parseTests(output: string): { n_prompt: number; n_gen: number; avg_ts: number }[] {
  try {
    return JSON.parse(output);
  } catch (error) {
    throw new BenchError(`llama-bench wrote no JSON: ${output.slice(0, 300)}`, { cause: error });
  }
}
