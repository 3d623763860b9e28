// Names of the user's own for models that are there. Used by `ingle pull --alias`, `ingle alias` and the server.
import { EngineError } from "../errors.ts";
import { findInstalled, takenIds } from "./installed.ts";
import type { LibraryOptions } from "./library-options.ts";
import { updateManifest, withAlias, withoutAlias } from "./manifest.ts";
import { checkAlias } from "./model-spec.ts";
import { libraryPaths } from "./paths.ts";

/**
 * Lets `alias` stand for the model of this id or alias from now on, whatever it stood for before. Resolves with the model's
 * id. Throws `invalid_request` for a name that is none or is a model's id, `model_not_found`, `library_invalid`, `disk_full`
 * or the signal's reason.
 */
export async function addAlias(alias: string, name: string, options: LibraryOptions = {}): Promise<string> {
  checkAlias(alias, await takenIds(options));
  const model = await findInstalled(name, options);
  if (model === undefined) {
    const message = `There is no model called "${name}" here that could get a name. Pull or import it first.`;
    throw new EngineError("model_not_found", message);
  }
  await updateManifest(
    libraryPaths(options.env),
    (manifest) => withAlias(manifest, alias, model.id),
    options,
  );
  return model.id;
}

/**
 * Forgets the alias; its model stays. Resolves with the id that it stood for. Throws `model_not_found` for a name that
 * nothing has, `library_invalid`, `disk_full` or the signal's reason.
 */
export async function removeAlias(alias: string, options: LibraryOptions = {}): Promise<string> {
  let id: string | undefined;
  await updateManifest(
    libraryPaths(options.env),
    (manifest) => {
      id = Object.hasOwn(manifest.aliases, alias) ? manifest.aliases[alias] : undefined;
      return id === undefined ? manifest : withoutAlias(manifest, alias);
    },
    options,
  );
  if (id !== undefined) return id;
  throw new EngineError(
    "model_not_found",
    `No model has the name "${alias}". \`ingle list\` shows who has one.`,
  );
}
