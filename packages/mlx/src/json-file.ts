// The small JSON files of a folder (config.json, tokenizer.json, …), read whole and of a bounded size. What is in them is for
// their readers to check.
import { open } from "node:fs/promises";
import path from "node:path";

import { MlxError } from "./errors.ts";

/** The largest tokenizers of today, with merges written out, have about 40 MB. */
export const JSON_BYTES_MAX = 128 * 1024 * 1024;

/** The file's text, or undefined where there is none. Throws `mlx_limit` and the system's errors. */
export async function readText(
  folder: string,
  name: string,
  bytesMax: number = JSON_BYTES_MAX,
): Promise<string | undefined> {
  try {
    await using file = await open(path.join(folder, name), "r");
    const { size } = await file.stat();
    if (size > bytesMax)
      throw new MlxError("mlx_limit", `${name} has ${size} bytes; ${bytesMax} are the most that are read.`);
    return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return undefined;
    throw error;
  }
}

/** The file's value, or undefined where there is no file. Throws `mlx_malformed` for what is no JSON, and as `readText`. */
export async function readJson(folder: string, name: string, bytesMax?: number): Promise<unknown> {
  const text = await readText(folder, name, bytesMax);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new MlxError("mlx_malformed", `${name} is no JSON.`, { cause });
  }
}

/** An object of JSON; a list is none. */
export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
