// Aliases: the user's own names for installed models.
import { EngineError } from "../base/errors.ts";
import { findInstalled, reservedNames } from "./installed.ts";
import type { LibraryOptions } from "./library-options.ts";
import { updateManifest, withAlias, withoutAlias } from "./manifest.ts";
import { checkAlias } from "./model-spec.ts";
import { libraryPaths } from "../base/home.ts";

/**
 * Makes `alias` a name of the model with this id or alias, even if it was a name of another model. Resolves with the model's id.
 * Throws `invalid_request` for an invalid alias or one that is a model's id, `model_not_found`, `library_invalid`, `disk_full`
 * or the signal's reason.
 */
export async function addAlias(alias: string, name: string, options: LibraryOptions = {}): Promise<string> {
  checkAlias(alias, await reservedNames(options));
  const model = await findInstalled(name, options);
  if (model === undefined) {
    const message = `There is no model called "${name}" here. Pull or import it first.`;
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
 * Removes the alias; its model stays. Resolves with the model's id. Throws `model_not_found` for an unknown alias,
 * `library_invalid`, `disk_full` or the signal's reason.
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
    `No model has the alias "${alias}". \`ingle list\` shows all aliases.`,
  );
}
