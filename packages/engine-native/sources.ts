// Identifies the sources of a build by a hash of their contents.
import { createHash, type Hash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The folders of a llama.cpp checkout that determine the layout of a model's saved state. */
const llamaFolders = ["include", "src", path.join("ggml", "include"), path.join("ggml", "src")];
/** What the addon is built from, beside llama.cpp. */
const addonSources = ["src", "cmake", "CMakeLists.txt"];

/**
 * Identifies llama.cpp's sources as they are compiled, including patches and added files, which a commit does not cover. The
 * pinned sources have a stamp of everything they were made from; the files of other checkouts are hashed.
 */
export function llamaSourcesId(dir: string): string {
  const hash = createHash("sha256");
  const stamp = path.join(dir, ".ingle-stamp");
  if (existsSync(stamp)) return hash.update(readFileSync(stamp)).digest("hex");
  for (const folder of llamaFolders) addFiles(hash, path.join(dir, folder));
  return hash.digest("hex");
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
    // The same on every system.
    if (statSync(file).isFile()) hash.update(`${name.replaceAll("\\", "/")}\0`).update(readFileSync(file));
  }
}
