// Loads damaged files in a process of their own (load-damaged.js), which has to live to the end: for the tests of damaged models
// and projectors.
import { spawn } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Damage } from "./damage.ts";

const script = fileURLToPath(new URL("load-damaged.js", import.meta.url));
/** Of one process. */
export const limitMs = 240_000;

export interface Corpus {
  /** The file that is damaged. */
  whole: string;
  /** The model that it is the projector of; none where it is the model itself. */
  model?: string;
  damages: readonly Damage[];
  /** Of the files that are made in `folder`. */
  name: string;
  folder: string;
}

/** What became of every damage: "ok" or the code of its error. Fails when the process did not come to the end. */
export async function outcomes({ whole, model, damages, name, folder }: Corpus): Promise<string[]> {
  const scratch = path.join(folder, `${name}.gguf`);
  const list = path.join(folder, `${name}.json`);
  await copyFile(whole, scratch);
  await writeFile(list, JSON.stringify(damages));
  const args = [script, whole, scratch, list, ...(model === undefined ? [] : [model])];
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
