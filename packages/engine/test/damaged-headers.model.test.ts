// Model files with damaged headers, loaded natively in a process of their own: each is an error of ours or a model that runs,
// and none takes the process down. What our own reader makes of such headers is tested in packages/gguf.
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { extremeFields, flippedBytes, truncations, type Damage } from "./damage.ts";

const script = fileURLToPath(new URL("load-damaged.js", import.meta.url));
const limitMs = 240_000;
/** As little as a model can be: it is loaded thousands of times. */
const smallest = {
  tokens: 280,
  embedding: 32,
  feedForward: 32,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  layers: 1,
  chatTemplate: null,
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-damage-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** What became of every damage: "ok" or the code of its error. Fails when the process did not come to the end. */
async function outcomes(model: string, name: string, damages: readonly Damage[]): Promise<string[]> {
  const scratch = path.join(folder, `${name}.gguf`);
  const list = path.join(folder, `${name}.json`);
  await copyFile(model, scratch);
  await writeFile(list, JSON.stringify(damages));
  const child = spawn(process.execPath, [script, model, scratch, list], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const end = await new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  const lines = stdout.trimEnd().split("\n");
  const last = damages[lines.length - 1];
  expect(end, `ended at ${JSON.stringify(last)}: ${stderr.slice(-2000)}`).toBe(0);
  return lines.map((line) => line.slice(line.indexOf(" ") + 1));
}

const codes = new Set(["ok", "model_invalid", "model_unsupported", "out_of_memory", "invalid_request"]);

test.each([
  { name: "fields at their extremes", make: extremeFields, refusedMin: 0.7 },
  { name: "bytes turned", make: flippedBytes, refusedMin: 0.3 },
  { name: "files cut off", make: truncations, refusedMin: 1 },
])(
  "$name",
  async ({ make, refusedMin }) => {
    const model = await tinyModel(smallest);
    const damages = make(await readFile(model));
    const results = await outcomes(model, make.name, damages);
    expect(results).toHaveLength(damages.length);
    expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
    const refused = results.filter((result) => result !== "ok").length;
    expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
  },
  limitMs,
);
