// Caches what was read from files, as long as they do not change.
import { stat } from "node:fs/promises";
import { GgufError } from "@ingle/gguf";
import { EngineError } from "../base/errors.ts";

/** Cached files: far more than any user has. */
const cachedMax = 10_000;

/** A function that reads a file once. Undefined for a file that is missing, damaged or of another kind; loading it reports the reason. */
export function cachedByFile<T>(
  read: (file: string) => Promise<T>,
): (file: string) => Promise<T | undefined> {
  /** By path, size and modification time. */
  const cache = new Map<string, T | undefined>();
  return async (file) => {
    const stats = await stat(file).catch(() => undefined);
    if (stats === undefined) return undefined;
    const key = `${stats.size} ${stats.mtimeMs} ${file}`;
    if (cache.has(key)) return cache.get(key);
    const found = await readable(read, file);
    if (cache.size >= cachedMax) cache.clear();
    cache.set(key, found);
    return found;
  };
}

async function readable<T>(read: (file: string) => Promise<T>, file: string): Promise<T | undefined> {
  try {
    return await read(file);
  } catch (error) {
    if (error instanceof GgufError || EngineError.is(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

/** Whether a file was deleted or is not readable. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
