// Adds a quantized file to the library.
import type { EngineError, LibraryOptions, registerModel } from "@ingle/engine";

/** The id belongs to another file, or the library cannot be written. */
const tolerated: ReadonlySet<string> = new Set(["invalid_request", "download_failed", "disk_full"]);

interface Engine {
  readonly EngineError: typeof EngineError;
  readonly registerModel: typeof registerModel;
}

/** Returns the new model's id; undefined if the library cannot take it, which leaves the file usable. Throws other errors. */
export async function registerQuantized(
  path: string,
  options: LibraryOptions,
  engine: Engine,
): Promise<string | undefined> {
  try {
    return (await engine.registerModel(path, options)).id;
  } catch (error) {
    if (engine.EngineError.is(error) && tolerated.has(error.code)) return undefined;
    throw error;
  }
}
