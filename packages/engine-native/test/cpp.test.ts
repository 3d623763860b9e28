// Builds and runs this package's C++ tests, so that one command runs all tests. One file for all programs: two builds in
// one folder at a time would get in each other's way. With INGLE_GPU or INGLE_SANITIZE, in the folder of that build.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyAdapter, tinyModel, tinyAudioModel, tinyVisionModel } from "@ingle/fixtures";
import { expect, test } from "vitest";
import { buildFolder } from "../find-addon.js";

const sanitizer = process.env["INGLE_SANITIZE"] ?? "";
const templates = fileURLToPath(
  new URL("../../../vendor/llama.cpp/source/models/templates", import.meta.url),
);
const native = path.resolve(import.meta.dirname, "..");
const buildDir =
  sanitizer === "" ? buildFolder(native, process.env["INGLE_GPU"]) : path.join(native, `build-${sanitizer}`);
// A build compiles a dozen small files, unless llama.cpp itself was not built with the addon. A run takes seconds; under a
// sanitizer, on a machine that does other things too, a hundred times as long.
const buildMsMax = 20 * 60_000;
const runMsMax = (sanitizer === "" ? 10 : 40) * 60_000;
/** What a program may print: the reports of a sanitizer are long, and one that is cut short by its pipe says nothing. */
const outputBytesMax = 256 * 1024 * 1024;

const programs = [
  { name: "ingle_tests", what: "of base, sched and the text stream" }, // cmake/tests.cmake
  { name: "ingle_llama_tests", what: "against llama.cpp's own code" }, // cmake/llama-tests.cmake
  { name: "ingle_engine_tests", what: "of the engine, with faults" }, // cmake/engine-tests.cmake
  // cmake/worker-tests.cmake: workers need the sockets of Unix.
  ...(process.platform === "win32" ? [] : [{ name: "ingle_worker_tests", what: "of what a worker refuses" }]),
];

/** Runs a program to its end; its output is the error when it fails or takes too long. */
function run(command: string, args: readonly string[], timeout: number, models: object = {}): string {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout,
    maxBuffer: outputBytesMax,
    env: { ...process.env, ...models },
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ended with ${status ?? signal ?? String(error)}\n${stdout}\n${stderr}`);
}

test.each(programs)("the C++ tests $what pass", { timeout: buildMsMax + runMsMax }, async ({ name }) => {
  if (!existsSync(path.join(buildDir, "CMakeCache.txt"))) {
    throw new Error(
      `The native engine was not built: ${buildDir} holds no CMakeCache.txt. Run \`pnpm build\` first.`,
    );
  }
  // One configuration: generators that have several would otherwise build Debug.
  run("cmake", ["--build", buildDir, "--target", name, "--config", "Release"], buildMsMax);
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const sees = {
    lfm2: await tinyVisionModel({ architecture: "lfm2" }),
    gemma3: await tinyVisionModel({ architecture: "gemma3" }),
    qwen2vl: await tinyVisionModel({ architecture: "qwen2vl" }),
  };
  const hears = {
    lfm2: await tinyAudioModel({ architecture: "lfm2", audio: "ultravox" }),
    conformer: await tinyAudioModel({ architecture: "lfm2", audio: "lfm2a" }),
    gemma3: await tinyAudioModel({ architecture: "gemma3", audio: "ultravox" }),
    qwen2vl: await tinyVisionModel({ architecture: "qwen2vl", audio: "qwen2a" }),
  };
  /** Layers that each of the models has, in an order that matters. */
  const reading = { targetLayers: [1, 0, 1], hasOwnMatrices: false };
  const models = {
    INGLE_TINY_LFM2VL: sees.lfm2.model,
    INGLE_TINY_LFM2VL_MMPROJ: sees.lfm2.projector,
    INGLE_TINY_GEMMA3VL: sees.gemma3.model,
    INGLE_TINY_GEMMA3VL_MMPROJ: sees.gemma3.projector,
    INGLE_TINY_QWEN2VL: sees.qwen2vl.model,
    INGLE_TINY_QWEN2VL_MMPROJ: sees.qwen2vl.projector,
    INGLE_TINY_WIDE_MMPROJ: (await tinyVisionModel({ architecture: "lfm2", embedding: 128 })).projector,
    INGLE_TINY_LFM2_CONFORMER: hears.conformer.model,
    INGLE_TINY_LFM2_CONFORMER_MMPROJ: hears.conformer.projector,
    INGLE_TINY_LFM2_AUDIO: hears.lfm2.model,
    INGLE_TINY_LFM2_AUDIO_MMPROJ: hears.lfm2.projector,
    INGLE_TINY_GEMMA3_AUDIO: hears.gemma3.model,
    INGLE_TINY_GEMMA3_AUDIO_MMPROJ: hears.gemma3.projector,
    INGLE_TINY_QWEN2_OMNI: hears.qwen2vl.model,
    INGLE_TINY_QWEN2_OMNI_MMPROJ: hears.qwen2vl.projector,
    INGLE_TEMPLATES: templates,
    INGLE_TINY_LLAMA: await tinyModel(),
    INGLE_TINY_ADAPTER: await tinyAdapter({ model: {} }),
    INGLE_TINY_ADAPTER_RANK_8: await tinyAdapter({ model: {}, seed: 2, rank: 8 }),
    INGLE_TINY_LFM2: await tinyModel({ architecture: "lfm2" }),
    INGLE_TINY_GLM4MOE: await tinyModel({ architecture: "glm4moe", drafts: "right" }),
    INGLE_TINY_QWEN35: await tinyModel({ architecture: "qwen35", drafts: "right" }),
    INGLE_TINY_EAGLE3: await tinyModel({ architecture: "eagle3", ...reading }),
    INGLE_TINY_DFLASH: await tinyModel({ architecture: "dflash", ...reading }),
    INGLE_TINY_DSPARK: await tinyModel({ architecture: "dflash", isDspark: true, ...reading }),
    INGLE_TINY_LLAMA_MEMORYLESS: await tinyModel({ memoryless: true }),
    INGLE_TINY_LFM2_MEMORYLESS: await tinyModel({ architecture: "lfm2", memoryless: true }),
    INGLE_TINY_EAGLE3_RIGHT: await tinyModel({
      architecture: "eagle3",
      drafts: "right",
      targetLayers: [0, 1, 1],
    }),
    INGLE_TINY_DSPARK_RIGHT: await tinyModel({
      architecture: "dflash",
      isDspark: true,
      drafts: "right",
      targetLayers: [0, 1, 1],
    }),
    INGLE_TINY_BERT: await tinyModel({ architecture: "bert" }),
    INGLE_TINY_BERT_FIRST: await tinyModel({ architecture: "bert", pooling: "first" }),
    INGLE_TINY_LLAMA_NARROW: await tinyModel({ headSize: 32 }),
    INGLE_TINY_LLAMA_LAST: await tinyModel({ pooling: "last" }),
    INGLE_TINY_LLAMA_RANK: await tinyModel({ pooling: "rank" }),
  };
  const output = run(path.join(buildDir, "tests", file), [], runMsMax, models);
  const cases = /test cases:\s*(\d+)/.exec(output)?.[1];
  expect(Number(cases), output).toBeGreaterThan(0);
});

test("a C++ test program refuses a filter that no title matches, and what it does not know", () => {
  const file = path.join(buildDir, "tests", process.platform === "win32" ? "ingle_tests.exe" : "ingle_tests");
  expect(run(file, ["-tc=checks: numbers may be *apart*"], runMsMax)).toContain("test cases: 1 | 1 passed");
  expect(() => run(file, ["-tc=nothing"], runMsMax)).toThrow("No test case has such a title.");
  expect(() => run(file, ["--list"], runMsMax)).toThrow("Unknown argument.");
});
