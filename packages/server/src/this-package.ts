// This package: its folder, which is that of @ingle/server (even when run from src) or of the program that it was bundled into, and its
// version.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export const packageFolder = findFolder("package.json", import.meta.dirname);

/** The nearest folder, going up, that contains a file of this name. */
function findFolder(name: string, folder: string): string {
  if (existsSync(path.join(folder, name))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`No folder above ${import.meta.dirname} has a ${name}.`);
  return findFolder(name, parent);
}

export function ingleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(packageFolder, "package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest)
    return String(manifest.version);
  throw new Error("This package's package.json has no version.");
}
