// Puts a built Ingle into a folder of its own: our packages and those that they need at run time, at the places that they have in
// the checkout, with the links between them. Called by image.sh; everything that only builds stays behind.
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

/** What runs of our own packages: their manifests have no lists for this, because they are published with their sources. */
const ownFiles = [
  "package.json",
  "bin",
  "dist",
  "index.js",
  "levels.js",
  "build/levels",
  "build/Release/ingle.node",
];
/** Its dependencies build it. */
const needsNothing = "@ingle/engine-native";
/** Files of other packages that nothing reads at run time. */
const isUnread = /\.(map|md|markdown|flow|[cm]?ts|tsx|tsbuildinfo)$/i;
const isLicense = /licen[cs]e|notice/i;

interface Manifest {
  name: string;
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
    if (manifest.name === needsNothing) continue;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const link = findDependency(folder, name);
      if (link === undefined) continue; // an optional one, for another system
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
    if (name.startsWith("build/Release") && existsSync(path.join(folder, "build/levels"))) continue;
    if (existsSync(path.join(folder, name))) copyFiles(path.join(folder, name), path.join(to, name));
  }
}

/** Without the packages below it, which are found as dependencies. */
function copyFiles(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (file) =>
      path.basename(file) !== "node_modules" &&
      (!isUnread.test(file) || isLicense.test(path.basename(file)) || lstatSync(file).isDirectory()),
  });
}

/** As Node looks for it: in the package's own node_modules, then in those above. */
function findDependency(folder: string, name: string): string | undefined {
  for (let above = folder; above.startsWith(checkout); above = path.dirname(above)) {
    const place = path.join(above, "node_modules", name);
    if (existsSync(place)) return place;
  }
  return undefined;
}

function copyLink(link: string, target: string): void {
  const to = path.join(target, path.relative(checkout, link));
  // A package that lies in another one's folder has no link.
  if (!lstatSync(link).isSymbolicLink() || isThere(to)) return;
  mkdirSync(path.dirname(to), { recursive: true });
  symlinkSync(readlinkSync(link), to);
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

main();
