// Identifies the sources of a build by a hash of their contents.
import { createHash, type Hash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The inputs of the addon's build besides llama.cpp. */
const addonSources = ["src", "cmake", "CMakeLists.txt"];

/** Identifies llama.cpp's sources as they are compiled: their stamp covers the release, our patches and our files. */
export function llamaSourcesId(dir: string): string {
  return createHash("sha256")
    .update(readFileSync(path.join(dir, ".ingle-stamp")))
    .digest("hex");
}

/** Identifies everything that is compiled into the addon: llama.cpp's sources in `llamaDir` and ours in `folder`. */
export function engineSourcesId(folder: string, llamaDir: string): string {
  const hash = createHash("sha256").update(llamaSourcesId(llamaDir));
  for (const name of addonSources) addFiles(hash, path.join(folder, name));
  return hash.digest("hex");
}

function addFiles(hash: Hash, place: string): void {
  if (!existsSync(place)) return;
  const names = statSync(place).isFile() ? [""] : readdirSync(place, { recursive: true, encoding: "utf8" });
  for (const name of names.toSorted()) {
    const file = path.join(place, name);
    // Slashes in paths, so that the hash is the same on every system.
    if (statSync(file).isFile()) hash.update(`${name.replaceAll("\\", "/")}\0`).update(readFileSync(file));
  }
}
