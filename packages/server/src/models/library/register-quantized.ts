// A file that was made of a model, put into the library beside it. Used by `ingle quantize` and by the server's jobs.
import type { EngineError, LibraryOptions, registerModel } from "@ingle/engine";

/** The id is taken by another file, or the library is not ours to write. */
const unlisted: ReadonlySet<string> = new Set(["invalid_request", "download_failed", "disk_full"]);

interface Engine {
  readonly EngineError: typeof EngineError;
  readonly registerModel: typeof registerModel;
}

/** The new model's id. Undefined when the list cannot have it: the file is there all the same. Throws the engine's other errors. */
export async function registerQuantized(
  path: string,
  options: LibraryOptions,
  engine: Engine,
): Promise<string | undefined> {
  try {
    return (await engine.registerModel(path, options)).id;
  } catch (error) {
    if (engine.EngineError.is(error) && unlisted.has(error.code)) return undefined;
    throw error;
  }
}
