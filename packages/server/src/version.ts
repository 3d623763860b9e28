// The version of this package, from its package.json, one folder above both src and dist.
import { readFileSync } from "node:fs";

export function ingleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest)
    return String(manifest.version);
  throw new Error("This package's package.json has no version.");
}
