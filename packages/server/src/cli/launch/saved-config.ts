// Merges settings into a program's own configuration, and keeps a copy of what was there.
import { constants } from "node:fs";
import { copyFile, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { writeAtomically } from "@ingle/engine/atomic-file";
import { parseJson } from "@ingle/protocol/json-shape";
import { CliError } from "../errors.ts";
import { jsonText } from "./config-folder.ts";
import type { JsonObject } from "./recipe.ts";

/** New files may hold a key. */
const newFileMode = 0o600;

interface SaveRequest {
  readonly file: string;
  readonly content: JsonObject;
  readonly entryKey?: string | undefined;
  readonly now: Date;
}

/** Returns the path of the copy; undefined if there was no file. Throws CliError for a file that is not JSON; nothing is changed then. */
export async function saveConfig({ file, content, entryKey, now }: SaveRequest): Promise<string | undefined> {
  const before = await readExisting(file);
  if (before === undefined) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, jsonText(content), { mode: newFileMode, flag: "wx" });
    return undefined;
  }
  const found = parseJson(before.text.trim() === "" ? "{}" : before.text);
  if (!isObject(found)) throw notJson(file, content);
  const backup = `${before.target}.${now.toISOString().replaceAll(/[:.]/g, "-")}.backup`;
  await copyFile(before.target, backup, constants.COPYFILE_EXCL);
  await writeAtomically(before.target, jsonText(merged(found, content, entryKey)), before.mode);
  return backup;
}

/** The file behind links, which stay. Undefined if there is none. */
async function readExisting(
  file: string,
): Promise<{ target: string; text: string; mode: number } | undefined> {
  try {
    const target = await realpath(file);
    return { target, text: await readFile(target, "utf8"), mode: (await stat(target)).mode };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function notJson(file: string, content: JsonObject): CliError {
  return new CliError(
    `${file} is not plain JSON (it may have comments), so nothing was changed. Add this yourself:\n${jsonText(content).trimEnd()}`,
  );
}

/** Objects are merged by key and arrays of objects by `entryKey`; any other value replaces the old one. */
export function merged(old: unknown, added: unknown, entryKey?: string): unknown {
  if (isObject(old) && isObject(added)) {
    const changed = Object.entries(added).map(([key, value]) => [key, merged(old[key], value, entryKey)]);
    return { ...old, ...Object.fromEntries(changed) };
  }
  if (!Array.isArray(old) || !Array.isArray(added) || entryKey === undefined) return added;
  const keyIn = (entry: unknown): unknown => (isObject(entry) ? entry[entryKey] : undefined);
  const addedKeys = new Set(added.map(keyIn));
  return [...old.filter((entry) => !addedKeys.has(keyIn(entry))), ...added];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
