// Determines how this Ingle was installed from the location of its files: which command upgrades it, and whether it is temporary.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";

interface Installation {
  /** Such as "npm", or "a clone of the repository", for sentences. */
  readonly by: string;
  /** The package that the user installed. */
  readonly packageName: string;
  /** The shell command that upgrades it; without one, `advice` says what to do. */
  readonly command?: string;
  readonly advice?: string;
  /** Whether it is in a cache that may be emptied at any time. */
  readonly isTemporary?: true;
}

/** The file system, which tests replace. */
export interface Files {
  exists(file: string): boolean;
  realPath(file: string): string;
  read(file: string): string;
}

const thisDisk: Files = {
  exists: existsSync,
  realPath: (file) => realpathSync(file),
  read: (file) => readFileSync(file, "utf8"),
};

interface Installer {
  readonly by: string;
  /** Matches a path with slashes; the group is the installer's name for the package. */
  readonly place: RegExp;
  readonly command: (name: string) => string;
  readonly isTemporary?: true;
}

/** The first match counts. */
const installers: readonly Installer[] = [
  { by: "npx", place: /\/_npx\//, command: (name) => `npx --yes ${name}@latest`, isTemporary: true },
  { by: "pnpm dlx", place: /\/pnpm\/dlx/, command: (name) => `pnpm dlx ${name}@latest`, isTemporary: true },
  { by: "bunx", place: /\/bunx-/, command: (name) => `bunx ${name}@latest`, isTemporary: true },
  { by: "Homebrew", place: /\/Cellar\/([^/]+)\//, command: (name) => `brew upgrade ${name}` },
  { by: "winget", place: /\/WinGet\/Packages\/([^/_]+)_/i, command: (name) => `winget upgrade --id ${name}` },
  { by: "bun", place: /\/\.bun\/install\/global\//, command: (name) => `bun add --global ${name}@latest` },
  { by: "pnpm", place: /\/pnpm\/global\//, command: (name) => `pnpm add --global ${name}@latest` },
  { by: "yarn", place: /\/yarn(?:\/Data)?\/global\//i, command: (name) => `yarn global add ${name}@latest` },
];

/** Lock files of a project that has Ingle among its dependencies. */
const projectManagers = [
  ["pnpm-lock.yaml", "pnpm", "pnpm add"],
  ["yarn.lock", "yarn", "yarn add"],
  ["bun.lock", "bun", "bun add"],
  ["bun.lockb", "bun", "bun add"],
  ["package-lock.json", "npm", "npm install"],
] as const;

/** `script` is the program that was started. */
export function findInstallation(script: string, files: Files = thisDisk): Installation {
  const real = files.realPath(script);
  const packageFolder = findPackageFolder(real, files);
  const packageName = nameIn(path.join(packageFolder, "package.json"), files);
  // Package managers use links into a store: either path may show which manager it was.
  for (const place of [real, script]) {
    for (const { by, place: pattern, command, isTemporary } of installers) {
      const found = pattern.exec(place.replaceAll("\\", "/"));
      if (found === null) continue;
      const about = { by, packageName, command: command(found[1] ?? packageName) };
      return isTemporary === true ? { ...about, isTemporary } : about;
    }
  }
  return (
    inProject(script, packageName, files) ??
    inProject(real, packageName, files) ??
    besidePackages(packageFolder, packageName, files)
  );
}

/** A file in a node_modules folder: of a project, or npm's global one, which has no package.json beside it. */
function inProject(file: string, packageName: string, files: Files): Installation | undefined {
  const end = file.replaceAll("\\", "/").indexOf("/node_modules/");
  if (end === -1) return undefined;
  const root = file.slice(0, end);
  if (!files.exists(path.join(root, "package.json")))
    return { by: "npm", packageName, command: `npm install --global ${packageName}@latest` };
  const [, by, add] =
    projectManagers.find(([lock]) => files.exists(path.join(root, lock))) ??
    (["", "npm", "npm install"] as const);
  return { by: `${by} in the project ${root}`, packageName, command: `${add} ${packageName}@latest` };
}

/** Not in a node_modules folder: a clone, or a container image. */
function besidePackages(packageFolder: string, packageName: string, files: Files): Installation {
  const root = path.join(packageFolder, "..", "..");
  if (files.exists(path.join(root, "pnpm-workspace.yaml")))
    return {
      by: `a clone of the repository, ${root}`,
      packageName,
      command: "git pull && npx --yes pnpm@12 build",
    };
  if (files.exists("/.dockerenv") || files.exists("/run/.containerenv"))
    return {
      by: "a container's image",
      packageName,
      advice: "Pull or build a newer image, and start a new container from it.",
    };
  return {
    by: `something unknown, in ${packageFolder}`,
    packageName,
    advice: "Install it again as you did the first time.",
  };
}

function findPackageFolder(file: string, files: Files): string {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (files.exists(path.join(folder, "package.json"))) return folder;
    if (folder === path.dirname(folder)) return path.dirname(file);
  }
}

function nameIn(manifest: string, files: Files): string {
  if (!files.exists(manifest)) return "ingle";
  const json: unknown = JSON.parse(files.read(manifest));
  const isNamed =
    typeof json === "object" && json !== null && "name" in json && typeof json.name === "string";
  return isNamed && "name" in json ? String(json.name) : "ingle";
}
