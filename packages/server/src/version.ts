// The version in this package's package.json, which lies one folder up from the sources and from dist alike.
import { readFileSync } from "node:fs";

export function ingleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest)
    return String(manifest.version);
  throw new Error("This package's package.json has no version.");
}
