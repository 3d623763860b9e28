// Copies a built Ingle into a folder: our packages and their run-time dependencies, at the same paths as in the checkout, with the links
// between them. Everything that is only needed to build is left out.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const checkout = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));

/** The run-time files of our own packages: their manifests do not list the addon that is built here. */
const ownFiles = [
  "package.json",
  "bin",
  "dist",
  "index.js",
  "find-addon.js",
  "platforms.js",
  "build/Release",
  "build-cuda/Release",
  "build-vulkan/Release",
];
/** Files of dependencies that are not needed at run time. */
const isUnread = /\.(map|md|markdown|flow|[cm]?ts|tsx|tsbuildinfo)$/i;
const isLicense = /licen[cs]e|notice/i;

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

function main(): void {
  const [, , target = ""] = process.argv;
  if (target === "") throw new Error("Usage: assemble.ts FOLDER");
  const done = new Set<string>();
  const todo = [path.join(checkout, "packages", "server")];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    if (done.has(folder)) continue;
    done.add(folder);
    const manifest: Manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    copyPackage(folder, target);
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const link = findDependency(folder, name);
      if (link === undefined) continue; // an optional dependency for another system
      copyLink(link, target);
      todo.push(realpathSync(link));
    }
  }
  for (const name of ["image.sh", "healthcheck.js"])
    cpSync(path.join(checkout, "deploy", "docker", name), path.join(target, name));
}

function copyPackage(folder: string, target: string): void {
  const to = path.join(target, path.relative(checkout, folder));
  const isOurs = !folder.includes(`${path.sep}node_modules${path.sep}`);
  if (!isOurs) return copyFiles(folder, to);
  for (const name of ownFiles) {
    if (existsSync(path.join(folder, name))) copyFiles(path.join(folder, name), path.join(to, name));
  }
}

/** Copies a package without nested packages, which are found as dependencies. */
function copyFiles(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (file) =>
      path.basename(file) !== "node_modules" &&
      (!isUnread.test(file) || isLicense.test(path.basename(file)) || lstatSync(file).isDirectory()),
  });
}

/** Resolves a dependency as Node does: in the package's own node_modules, then in those above. */
function findDependency(folder: string, name: string): string | undefined {
  for (let above = folder; above.startsWith(checkout); above = path.dirname(above)) {
    const place = path.join(above, "node_modules", name);
    if (existsSync(place)) return place;
  }
  return undefined;
}

function copyLink(link: string, target: string): void {
  const to = path.join(target, path.relative(checkout, link));
  // A package inside another package's folder has no link.
  if (!lstatSync(link).isSymbolicLink() || isThere(to)) return;
  mkdirSync(path.dirname(to), { recursive: true });
  symlinkSync(readlinkSync(link), to);
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

main();
