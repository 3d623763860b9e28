// Paths in the checkout.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

export const workspaceFolder = path.resolve(import.meta.dirname, "..", "..");
/** Third-party programs and libraries, built or installed for comparison only; ignored by git. */
export const peersFolder = path.join(workspaceFolder, "bench", "peers");
export const resultsFolder = path.join(workspaceFolder, "bench", "results");

/** The folder of a package of this workspace that bench depends on. */
export function packageFolder(name: string): string {
  return path.dirname(require.resolve(`${name}/package.json`));
}
