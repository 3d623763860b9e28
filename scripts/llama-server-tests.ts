// Runs llama.cpp's own server tests against Ingle: `tsx scripts/llama-server-tests.ts FOLDER [pytest arguments]`. FOLDER has
// stories260K-f32.gguf, the model of most tests; models with random weights stand for the others. docs/llama-server.md has the count.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { tinyModel, tinyVisionModel } from "@ingle/fixtures";

import { root } from "./files.ts";
import { stop } from "./step.ts";

const [models, ...selected] = process.argv.slice(2);
if (models === undefined) stop("Name the folder that has stories260K-f32.gguf.");
const source = path.join(root, "vendor", "llama.cpp", "source");
const translation = path.join(import.meta.dirname, "llama-server-tests");

/** A copy, in which the tests may write, where they find the templates and images of the sources. */
const work = mkdtempSync(path.join(tmpdir(), "ingle-llama-server-tests-"));
process.on("exit", () => rmSync(work, { recursive: true }));
const tests = path.join(work, "tools", "server", "tests");
cpSync(path.join(source, "tools", "server", "tests"), tests, { recursive: true });
symlinkSync(path.join(source, "models"), path.join(work, "models"));
symlinkSync(path.join(source, "tools", "mtmd"), path.join(work, "tools", "mtmd"));
mkdirSync(path.join(tests, "tmp"));

const program = path.join(work, "llama-server");
const script = path.join(translation, "llama-server.js");
writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
chmodSync(program, 0o755);

const vision = await tinyVisionModel({ architecture: "gemma3" });
const files = {
  "ggml-org/test-model-stories260K": {
    model: path.join(path.resolve(models), "stories260K-f32.gguf"),
    context: 512,
  },
  "ggml-org/test-model-stories260K-infill": { model: await tinyModel({ vocabulary: "starcoder" }) },
  "ggml-org/models/bert-bge-small/ggml-model-f16.gguf": { model: await tinyModel({ architecture: "bert" }) },
  "ggml-org/models/jina-reranker-v1-tiny-en/ggml-model-f16.gguf": {
    model: await tinyModel({ architecture: "bert", pooling: "rank" }),
  },
  "ggml-org/tinygemma3-GGUF:Q8_0": { model: vision.model, mmproj: vision.projector },
};
const { status } = spawnSync("python3", ["-m", "pytest", "-p", "without_downloads", "-q", ...selected], {
  cwd: tests,
  stdio: "inherit",
  env: {
    ...process.env,
    INGLE_TEST_MODELS: JSON.stringify(files),
    INGLE_HOME: path.join(work, "home"),
    INGLE_OFFLINE: "1",
    LLAMA_SERVER_BIN_PATH: program,
    PYTHONPATH: `${translation}${path.delimiter}${tests}`,
    TMPDIR: work,
  },
});
process.exitCode = status ?? 1;
