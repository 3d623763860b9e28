// Finds the file of a draft model by what the user wrote: a path, or the name of an installed model.
import { EngineError } from "../errors.ts";
import { findInstalled } from "./installed.ts";
import type { LibraryOptions } from "./library-options.ts";
import { pathMeant } from "./locate.ts";

/** The options with the path of their draft model, if there is one. Throws `model_not_found` for a name that is not installed. */
export async function withDraftFile<Options extends { draftModel?: string | undefined }>(
  options: Options,
  library: LibraryOptions = {},
): Promise<Options> {
  const { draftModel } = options;
  if (draftModel === undefined) return options;
  const file = await pathMeant(draftModel);
  if (file !== undefined) return { ...options, draftModel: file };
  const installed = await findInstalled(draftModel, library);
  if (installed !== undefined) return { ...options, draftModel: installed.path };
  throw new EngineError(
    "model_not_found",
    `draftModel: there is no file ${draftModel}, and no such model is installed. Install it with \`ingle pull ${draftModel}\`, ` +
      "or give the path of a GGUF file.",
    { details: { param: "draftModel" } },
  );
}
