// Loads damaged files in a child process (load-damaged.js), which must not crash: for the tests of damaged models, projectors
// and adapters.
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Damage } from "./damage.ts";

const script = fileURLToPath(new URL("load-damaged.js", import.meta.url));
/** The time limit of one process. */
export const limitMs = 240_000;

/** As small as possible: it is loaded thousands of times. */
export const smallestLlama = {
  tokens: 280,
  embedding: 32,
  feedForward: 32,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  layers: 1,
  chatTemplate: null,
};

export interface Corpus {
  /** The file to damage. */
  whole: string;
  /** The model, if the file is a projector or an adapter. */
  model?: string;
  /** What the file is for the model. Default: a projector. */
  kind?: "adapter" | "projector";
  damages: readonly Damage[];
}

/** The outcome of each damage: "ok" or the error's code. Fails if the process ended early. */
export async function outcomes(corpus: Corpus): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-damage-"));
  try {
    return await outcomesIn(folder, corpus);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function outcomesIn(
  folder: string,
  { whole, model, kind = "projector", damages }: Corpus,
): Promise<string[]> {
  const scratch = path.join(folder, "damaged.gguf");
  const list = path.join(folder, "damages.json");
  await copyFile(whole, scratch);
  await writeFile(list, JSON.stringify(damages));
  const args = [script, whole, scratch, list, ...(model === undefined ? [] : [model, kind])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], timeout: limitMs });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const end = await new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  const lines = stdout.trimEnd().split("\n");
  const last = damages[lines.length - 1];
  expect(end, `ended at ${JSON.stringify(last)}: ${stderr.slice(-2000)}`).toBe(0);
  return lines.map((line) => line.slice(line.indexOf(" ") + 1));
}
