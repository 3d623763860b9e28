// Reads the JSON files of a folder (config.json, tokenizer.json, …) up to a size limit. Callers check the contents.
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";

import { MlxError } from "./errors.ts";

/** The largest tokenizers, with merges written out, have about 40 MB. */
const JSON_BYTES_MAX = 128 * 1024 * 1024;

/** The file's text, or undefined if there is no file. Throws `mlx_limit` and file system errors. */
export async function readText(
  folder: string,
  name: string,
  bytesMax: number = JSON_BYTES_MAX,
): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path.join(folder, name), "r");
    const { size } = await file.stat();
    if (size > bytesMax)
      throw new MlxError("mlx_limit", `${name} has ${size} bytes; at most ${bytesMax} are allowed.`);
    return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

/** The file's value, or undefined if there is no file. Throws `mlx_malformed` for invalid JSON, and as `readText`. */
export async function readJson(folder: string, name: string, bytesMax?: number): Promise<unknown> {
  const text = await readText(folder, name, bytesMax);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new MlxError("mlx_malformed", `${name} is not valid JSON.`, { cause });
  }
}

/** Whether a JSON value is an object; an array is not. */
export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
