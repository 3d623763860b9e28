// The builds of llama.cpp whose speed is compared: Ingle's, upstream's of the same commit, and ik_llama.cpp's, which computes
// quantized weights on CPUs faster than upstream.
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { runProgram } from "../child-process.ts";
import { buildPrograms, buildSuffix, ensureLlamaPrograms, llamaProgram, readPin } from "../peers.ts";
import type { PeerOptions } from "../peers.ts";
import { ensureLlamaTools, llamaTool } from "../quality/llama-tools.ts";
import { peersFolder } from "../workspace.ts";
import { ensureLimits } from "./limits.ts";

const ikRepository = "https://github.com/ikawrakow/ik_llama.cpp";
const ikCommit = "8337e4cd3861406fc04e0854b1409cd1b027fbc9";

const ikSource = path.join(peersFolder, "ik_llama.cpp");
const gitLimitMs = 600_000;

const tools = ["llama-bench", "llama-batched-bench"] as const;
type Tool = (typeof tools)[number];

/** One build with its settings. */
export interface SpeedProgram {
  /** Its name in the report. */
  name: string;
  /** Its commit or release. */
  version: string;
  isOurs: boolean;
  /** The file to run. */
  file: (tool: Tool) => string;
  /** Arguments that only this program needs, after those of all. */
  extra: Readonly<Record<Tool, readonly string[]>>;
}

const plain = { "llama-bench": [], "llama-batched-bench": [] } as const;

/**
 * Builds what is compared, in the order in which it takes turns. `ik` is a checkout of ik_llama.cpp; without it, its pinned commit
 * is fetched. ik_llama.cpp is measured twice: with weights as they are stored, and repacked into a copy, as it can do when it
 * loads them. Throws BenchError if a tool is missing or fails.
 */
export async function ensureSpeedPrograms(
  ik: string | undefined,
  options: PeerOptions,
): Promise<readonly SpeedProgram[]> {
  await ensureLimits(options);
  await ensureLlamaTools("patched", options);
  await ensureLlamaPrograms(options, tools);
  const { release } = await readPin();
  const { commit, folder } = await ensureIk(ik, options);
  const ikFile = (tool: Tool): string => path.join(folder, "bin", tool);
  const ikVersion = commit.slice(0, 10);
  return [
    {
      name: "Ingle",
      version: `${release}, patched`,
      isOurs: true,
      file: (tool) => llamaTool(tool, "patched"),
      extra: plain,
    },
    { name: "llama.cpp", version: release, isOurs: false, file: llamaProgram, extra: plain },
    { name: "ik_llama.cpp", version: ikVersion, isOurs: false, file: ikFile, extra: plain },
    {
      name: "ik_llama.cpp, repacked",
      version: ikVersion,
      isOurs: false,
      file: ikFile,
      extra: { "llama-bench": ["-rtr", "1"], "llama-batched-bench": ["-rtr"] },
    },
  ];
}

async function ensureIk(
  checkout: string | undefined,
  options: PeerOptions,
): Promise<{ commit: string; folder: string }> {
  const { say, signal } = options;
  const git = async (cwd: string, ...args: string[]): Promise<string> =>
    (await runProgram("git", args, { cwd, limitMs: gitLimitMs, signal })).trim();
  if (checkout === undefined && !existsSync(ikSource)) {
    say(`Fetching ik_llama.cpp from ${ikRepository}; --ik FOLDER uses a checkout instead …`);
    const fresh = `${ikSource}.new`;
    await rm(fresh, { recursive: true, force: true });
    await git(peersFolder, "init", "--quiet", fresh);
    await git(fresh, "fetch", "--quiet", "--depth", "1", ikRepository, ikCommit);
    await git(fresh, "-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD");
    await rename(fresh, ikSource);
  }
  const source = checkout ?? ikSource;
  // A folder of its own for a checkout: CMake keeps the path of its sources.
  const folder = path.join(peersFolder, `build-ik${checkout === undefined ? "" : "-checkout"}${buildSuffix}`);
  say("Building ik_llama.cpp; the first time takes minutes …");
  // Its measuring programs are among its examples.
  const settings = ["-DLLAMA_BUILD_EXAMPLES=ON", "-DLLAMA_BUILD_SERVER=OFF"];
  await buildPrograms(tools, { source, folder, settings }, options);
  return { commit: await git(source, "rev-parse", "HEAD"), folder };
}
