// Which of this checkout's files programs need to run elsewhere: the packages that they import, with all that those import, through
// the links that pnpm has made.
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

/** Paths from the root: folders of packages, and the links by which packages find each other. */
interface Closure {
  readonly folders: readonly string[];
  readonly links: readonly string[];
}

/**
 * The packages that `names` are, as a program in `root` finds them, and everything that they depend on and that is installed, but for
 * the packages named in `without`.
 */
export function findClosure(
  root: string,
  names: readonly string[],
  without: readonly string[] = [],
): Closure {
  const folders = new Set<string>();
  const links = new Set<string>();
  const waiting = names.map((name): [from: string, name: string] => [root, name]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = without.includes(next[1]) ? undefined : findPackage(root, ...next);
    if (found === undefined) continue; // it may be optional, and not for this platform
    if (lstatSync(found).isSymbolicLink()) links.add(path.relative(root, found));
    const folder = realpathSync(found);
    const relative = path.relative(root, folder);
    if (folders.has(relative)) continue;
    folders.add(relative);
    const manifest = Manifest.parse(JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")));
    const all = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };
    waiting.push(...Object.keys(all).map((name): [string, string] => [folder, name]));
  }
  return { folders: [...folders].toSorted(), links: [...links].toSorted() };
}

/** Node's search: in node_modules of the folder, and of all above it up to the root. */
function findPackage(root: string, from: string, name: string): string | undefined {
  for (let folder = from; folder.startsWith(root); folder = path.dirname(folder)) {
    const candidate = path.join(folder, "node_modules", name);
    if (existsSync(path.join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** What no program reads: declarations, maps of sources, pages, and what tools have left. */
const isUnread = /\.(d\.[cm]?ts|map|md|markdown|flow|tsbuildinfo)$|^(license|changelog)/i;
/** What no program reads of a package from the registry: its sources in TypeScript, and its tests. */
const isUnpublished = /\.[cm]?ts$|(^|[/\\])tests?[/\\]/;

/** Paths from the root of all files in a package's folder that a program may read; packages within it are their own. */
export function listFiles(root: string, folder: string, only?: readonly string[]): string[] {
  const files: string[] = [];
  const isFromRegistry = folder.split(path.sep).includes("node_modules");
  const isPrivate = (file: string): boolean =>
    isFromRegistry && isUnpublished.test(path.relative(folder, file));
  const walk = (relative: string): void => {
    for (const entry of readdirSync(path.join(root, relative), { withFileTypes: true })) {
      const inner = path.join(relative, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") walk(inner);
      else if (entry.isFile() && !isUnread.test(entry.name) && !isPrivate(inner)) files.push(inner);
    }
  };
  for (const part of only ?? [""]) {
    const start = path.join(folder, part);
    if (!existsSync(path.join(root, start))) continue;
    if (lstatSync(path.join(root, start)).isDirectory()) walk(start);
    else files.push(start);
  }
  return files.toSorted();
}
