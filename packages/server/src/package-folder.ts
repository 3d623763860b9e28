// Finds the folder of the package that contains this code: @ingle/server (even when run from src), or the program that it was
// bundled into.
import { existsSync } from "node:fs";
import path from "node:path";

export const packageFolder = folderWith("package.json", import.meta.dirname);

/** The nearest folder, going up, that contains a file of this name. */
function folderWith(name: string, folder: string): string {
  if (existsSync(path.join(folder, name))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`No folder above ${import.meta.dirname} has a ${name}.`);
  return folderWith(name, parent);
}
