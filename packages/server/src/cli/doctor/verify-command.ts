// `ingle doctor --verify`: compares the installed packages of Ingle with those of the registry, file by file.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { InstalledPackage, PackageDifferences } from "@ingle/engine";
import type { CommandContext } from "../context.ts";
import { exitCodes } from "../errors.ts";
import { formatTable } from "../text.ts";
import { packageFolder } from "../../this-package.ts";

/** Files named for each difference; the rest is counted. */
const namedMax = 10;

interface Compared extends InstalledPackage {
  differences: PackageDifferences;
}

/** Returns the exit code: 1 if a file differs, or nothing can be compared. */
export async function verifyCommand(isJson: boolean, context: CommandContext): Promise<number> {
  const { engine, env, stdout, stderr } = context;
  const packages = installedPackages(packageFolder);
  if (packages.length === 0) {
    stderr.write(
      "This Ingle is a clone of the repository, not an installed release: compare it with `git status` and `git verify-commit HEAD`.\n",
    );
    return exitCodes.failure;
  }
  const { comparePackage } = await engine();
  const compared: Compared[] = [];
  for (const each of packages) compared.push({ ...each, differences: await comparePackage(each, { env }) });
  stdout.write(isJson ? `${JSON.stringify(compared.map(toJson), undefined, 2)}\n` : toText(compared));
  const isWhole = compared.every(({ differences }) => listDifferences(differences).length === 0);
  if (!isWhole)
    stderr.write(
      "\nInstall Ingle again. If you did not change these files, find out who did before you run it.\n",
    );
  return isWhole ? exitCodes.ok : exitCodes.failure;
}

/**
 * The package in a folder and those of ours that it depends on, for this platform; none if it is part of a clone. Exported for its test.
 */
export function installedPackages(folder: string): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const add = (place: string): void => {
    const manifest: {
      name: string;
      version: string;
      dependencies?: Record<string, string>;
      optionalDependencies?: Record<string, string>;
    } = JSON.parse(readFileSync(path.join(place, "package.json"), "utf8"));
    const { name, version } = manifest;
    if (found.has(name) || !place.split(path.sep).includes("node_modules")) return;
    found.set(name, { name, version, folder: place });
    const resolve = createRequire(path.join(place, "package.json")).resolve;
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const file = dependency.startsWith("@ingle/") ? findManifest(dependency, resolve) : undefined;
      if (file !== undefined) add(path.dirname(file));
    }
  };
  add(folder);
  return [...found.values()];
}

/** Undefined if it is not installed, as the engines of other platforms are not. */
function findManifest(name: string, resolve: NodeJS.RequireResolve): string | undefined {
  try {
    return resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

function listDifferences({ changed, missing, added }: PackageDifferences): string[] {
  return [
    ...changed.map((name) => `changed  ${name}`),
    ...missing.map((name) => `missing  ${name}`),
    ...added.map((name) => `added    ${name}`),
  ];
}

function toText(compared: readonly Compared[]): string {
  const rows = compared.map(({ name, version, differences }) => {
    const count = listDifferences(differences).length;
    return [name, version, `${differences.files}`, count === 0 ? "as published" : `${count} differ`];
  });
  const lists = compared.flatMap(({ name, differences }) => {
    const names = listDifferences(differences);
    const rest = names.length > namedMax ? [`and ${names.length - namedMax} more`] : [];
    return names.length === 0
      ? []
      : [`\n${name}:`, ...[...names.slice(0, namedMax), ...rest].map((each) => `  ${each}`)];
  });
  return (
    formatTable([["PACKAGE", "VERSION", "FILES", "CONTENT"], ...rows]) +
    lists.map((line) => `${line}\n`).join("")
  );
}

/** The fields of `--json`, which programs rely on. */
function toJson({ name, version, folder, differences: { files, changed, missing, added } }: Compared) {
  return { package: name, version, folder, files, changed, missing, added };
}
