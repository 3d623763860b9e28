// Packs what a machine with a GPU needs to check Ingle there, without Node, a compiler or a network: the addon that was built here, Node,
// and of this checkout what the tests named x.gpu.test.ts and the measurements read. docs/gpu.md says how to use it:
//
//   INGLE_GPU=cuda npx --yes pnpm@12 build
//   npx --yes pnpm@12 exec tsx scripts/gpu-check/pack.ts --gpu cuda [--llama-server FILE] [--out gpu-check.tar.xz]
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildSync } from "esbuild";
import { root } from "../files.ts";
import { step, stop } from "../step.ts";
import { findClosure, listFiles } from "./closure.ts";

/** What a lent machine takes at most. */
const archiveBytesMax = 64 * 1024 * 1024;

const { values: options } = parseArgs({
  options: {
    gpu: { type: "string", default: "cuda" },
    "llama-server": { type: "string" },
    out: { type: "string", default: "gpu-check.tar.xz" },
  },
});
/** `cpu` stands in for a card, to try the whole way. */
const gpus = ["cuda", "vulkan", "cpu"];
const { gpu } = options;
if (!gpus.includes(gpu)) stop(`--gpu must be ${gpus.join(", ")}.`);

const engineNative = path.join("packages", "engine-native");
const build = path.join(engineNative, gpu === "cpu" ? "build" : `build-${gpu}`, "Release", "ingle.node");

/** What the programs import from the root, and what runs them. */
const programs = ["vitest", "zod", "@ingle/bench", "@ingle/server", "@ingle/engine", "@ingle/fixtures"];
/** Large packages that others name but that nothing here imports: compilers, styles, databases, and another runtime's modules. */
const unneeded = [
  "typescript",
  "tsx",
  "esbuild",
  "libsql",
  "node-llama-cpp",
  "lightningcss",
  "bare-fs",
  "bare-path",
  "bare-url",
  "bare-buffer",
];
/** Of this workspace's packages only what runs; the page is not needed. */
const packageParts = ["package.json", "bin", "dist", "src", "test"];
/** Packages whose sources are C++ or another build's. */
const ownParts: Readonly<Record<string, readonly string[]>> = {
  [engineNative]: ["package.json", "index.js", "find-addon.js", "platforms.js"],
  [path.join("packages", "web")]: ["package.json"],
  [path.join("vendor", "llama.cpp")]: ["package.json"],
};
const vocabularies = path.join("vendor", "llama.cpp", "source", "models");
/** Those of the tests' models and of the measured ones. All together would take more than everything else. */
const neededVocabularies = ["llama-spm", "llama-bpe", "gpt-2", "bert-bge", "phi-3"];
const rootParts = ["package.json", "pnpm-workspace.yaml", "vitest.config.ts"];
/** What measures there, in one file without types, beside the sources of the bench: its paths and packages are theirs. */
const program = path.join("bench", "src", "gpu-check.mjs");

const staging = mkdtempSync(path.join(tmpdir(), "gpu-check-"));
process.on("exit", () => rmSync(staging, { recursive: true, force: true }));
const folder = path.join(staging, "gpu-check");
const checkout = path.join(folder, "ingle");

function copy(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function strip(file: string): void {
  execFileSync("strip", ["--strip-unneeded", file], { stdio: "inherit" });
}

const closure = findClosure(root, programs, unneeded);
for (const each of closure.folders) {
  const parts = ownParts[each] ?? (each.startsWith("node_modules") ? undefined : packageParts);
  for (const file of listFiles(root, each, parts)) copy(path.join(root, file), path.join(checkout, file));
}
for (const link of closure.links) {
  mkdirSync(path.dirname(path.join(checkout, link)), { recursive: true });
  symlinkSync(readlinkSync(path.join(root, link)), path.join(checkout, link));
}
for (const file of [
  ...listFiles(root, ".", rootParts),
  ...neededVocabularies.map((name) => path.join(vocabularies, `ggml-vocab-${name}.gguf`)),
])
  copy(path.join(root, file), path.join(checkout, file));
copy(path.join(root, build), path.join(checkout, build));
strip(path.join(checkout, build));
buildSync({
  entryPoints: [path.join(root, "scripts", "gpu-check", "run.ts")],
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  alias: { "@ingle/bench/speeds": path.join(root, "bench", "src", "steps", "speeds.ts") },
  outfile: path.join(checkout, program),
});
const commit = execFileSync("git", ["describe", "--always", "--dirty"], {
  cwd: root,
  encoding: "utf8",
}).trim();
writeFileSync(path.join(checkout, "COMMIT"), `${commit}\n`);

const node = path.join(folder, "node");
copy(process.execPath, node);
strip(node);
chmodSync(node, 0o755);
if (options["llama-server"] !== undefined) {
  const server = path.join(folder, "llama-server");
  copy(options["llama-server"], server);
  strip(server);
  chmodSync(server, 0o755);
}
copy(path.join(root, "scripts", "gpu-check", "run.sh"), path.join(folder, "run.sh"));
writeFileSync(path.join(folder, "GPU"), `${gpu}\n`);

const out = path.resolve(options.out);
step(
  "pack",
  [
    "tar",
    "--create",
    "--file",
    out,
    "--use-compress-program",
    // The same program lies in two packages, and the same device code in two programs: the dictionary holds both.
    "xz -T1 --lzma2=preset=6,dict=128MiB",
    "--directory",
    staging,
    "gpu-check",
  ],
  {},
);
const { size } = statSync(out);
console.log(`${out}: ${(size / 1e6).toFixed(1)} MB, ${closure.folders.length} packages, commit ${commit}`);
if (size > archiveBytesMax) stop(`That is more than ${archiveBytesMax / 1e6} MB.`);
