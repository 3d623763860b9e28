// The folder of the package that this code is in: @ingle/server, also from src, or the program that it was bundled into.
import { existsSync } from "node:fs";
import path from "node:path";

export const packageFolder = folderWith("package.json", import.meta.dirname);

/** The nearest folder, going up, that has a file of this name. */
function folderWith(name: string, folder: string): string {
  if (existsSync(path.join(folder, name))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`No folder above ${import.meta.dirname} has a ${name}.`);
  return folderWith(name, parent);
}
