// The version of this package, from its package.json.
import { readFileSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "./package-folder.ts";

export function ingleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(packageFolder, "package.json"), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest)
    return String(manifest.version);
  throw new Error("This package's package.json has no version.");
}
