// Import rules that oxlint cannot express: dependencies between packages, imports of undeclared packages, relative imports that
// leave their package. layers-folders.ts checks the folders of a package, layers-cpp.ts C++. A step of check.ts.
import path from "node:path";

import { isTest, type TextFile } from "./files.ts";
import { folderProblems, readImports } from "./layers-folders.ts";
import { includeProblems } from "./layers-cpp.ts";

/** What a package may depend on. `others: undefined` leaves third parties to its author. */
interface Layer {
  readonly ours: readonly string[];
  readonly others?: readonly string[];
  /** Its imports are bundled into its files, not installed with it: its devDependencies count. */
  readonly isBundled?: true;
}

/** The plan of docs/architecture.md; a package that is not listed here is a problem. */
const layers: Readonly<Record<string, Layer>> = {
  "@ingle/llama.cpp": { ours: [], others: ["node-llama-cpp"] },
  "@ingle/engine-native": { ours: ["@ingle/llama.cpp"] },
  "@ingle/gguf": { ours: [], others: [] },
  "@ingle/mlx": { ours: ["@ingle/gguf"], others: ["zod"] },
  "@ingle/generation-options": { ours: [], others: [] },
  "@ingle/engine": {
    ours: ["@ingle/engine-native", "@ingle/generation-options", "@ingle/gguf", "@ingle/mlx"],
  },
  "@ingle/protocol": { ours: ["@ingle/generation-options"], others: ["zod"] },
  "@ingle/client": { ours: ["@ingle/protocol"], others: ["eventsource-parser"] },
  "@ingle/ai-provider": {
    ours: ["@ingle/protocol"],
    others: [
      "@ai-sdk/openai-compatible",
      "@ai-sdk/provider",
      "@ai-sdk/provider-utils",
      "zod",
      "@types/json-schema",
    ],
  },
  "@ingle/mcp": { ours: ["@ingle/engine"], others: ["@modelcontextprotocol/client", "zod"] },
  "@ingle/web": { ours: ["@ingle/client", "@ingle/protocol"], isBundled: true },
  "@ingle/server": {
    ours: ["@ingle/engine", "@ingle/generation-options", "@ingle/mcp", "@ingle/protocol", "@ingle/web"],
  },
  ingle: {
    ours: ["@ingle/engine", "@ingle/engine-native", "@ingle/mlx", "@ingle/server", "@ingle/web"],
    others: ["libsql", "rolldown", "sharp"],
    isBundled: true,
  },
  "@ingle/fixtures": {
    ours: ["@ingle/engine-native", "@ingle/generation-options", "@ingle/gguf", "@ingle/llama.cpp"],
  },
};

/** The parts of a package.json that the checks need. */
interface Manifest {
  readonly path: string;
  readonly folder: string;
  readonly name: string;
  readonly runtime: ReadonlySet<string>;
  readonly development: ReadonlySet<string>;
}

/** Every broken rule, as `path:line: sentence`. */
export function layerProblems(files: readonly TextFile[]): string[] {
  const manifests = files
    .filter((file) => path.posix.basename(file.path) === "package.json")
    .map(parseManifest);
  return [
    ...manifests.flatMap(dependencyProblems),
    ...files
      .filter((file) => /\.[cm]?[jt]sx?$/.test(file.path))
      .flatMap((file) => importProblems(file, manifests)),
    ...folderProblems(files),
    ...includeProblems(files),
  ];
}

function parseManifest(file: TextFile): Manifest {
  const json: unknown = JSON.parse(file.text);
  const name = stringAt(json, "name");
  const runtime = ["dependencies", "optionalDependencies", "peerDependencies"];
  if (layers[name]?.isBundled === true) runtime.push("devDependencies");
  return {
    path: file.path,
    folder: path.posix.dirname(file.path),
    name,
    runtime: new Set(runtime.flatMap((key) => keysAt(json, key))),
    development: new Set(keysAt(json, "devDependencies")),
  };
}

function dependencyProblems(manifest: Manifest): string[] {
  // Not a folder inside of one, which a test installs elsewhere.
  if (!/^(packages|vendor)\/[^/]+\/package\.json$/.test(manifest.path)) return [];
  const layer = layers[manifest.name];
  if (layer === undefined) {
    return [
      `${manifest.path}: ${manifest.name} has no layer; add it to scripts/layers.ts and docs/architecture.md`,
    ];
  }
  return [...manifest.runtime]
    .filter((name) => !(name.startsWith("@ingle/") ? layer.ours : (layer.others ?? [name])).includes(name))
    .map((name) => `${manifest.path}: ${manifest.name} may not depend on ${name}`);
}

function importProblems(file: TextFile, manifests: readonly Manifest[]): string[] {
  const home = findPackage(file.path, manifests);
  const workspace = manifests.find((manifest) => manifest.folder === ".");
  const problems: string[] = [];
  for (const { target, line } of readImports(file)) {
    const problem = target.startsWith(".")
      ? relativeProblem(file.path, target, home, manifests)
      : packageProblem(file.path, target, home, workspace);
    if (problem !== undefined) problems.push(`${file.path}:${line}: ${problem}`);
  }
  return problems;
}

function relativeProblem(
  from: string,
  target: string,
  home: Manifest | undefined,
  manifests: readonly Manifest[],
): string | undefined {
  // They read tables from packages, also before they are built.
  if (from === "scripts/reference-pages.ts" || from === "scripts/option-reference.ts") return undefined;
  const resolved = path.posix.join(path.posix.dirname(from), target);
  if (findPackage(resolved, manifests) !== home)
    return `${target} leaves its package; import the package by its name`;
  if (!isTest(from) && /(^|\/)src\/index\.ts$/.test(resolved)) {
    return "a package's index.ts is for others; import the file that has the thing";
  }
  return undefined;
}

function packageProblem(
  from: string,
  target: string,
  home: Manifest | undefined,
  workspace: Manifest | undefined,
): string | undefined {
  if (home === undefined || target.startsWith("node:")) return undefined;
  const name = target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
  const declared = home.runtime.has(name);
  if (declared || home === workspace) return undefined;
  const isProduct = from.startsWith(`${home.folder}/src/`) && !isTest(from);
  if (!isProduct && (home.development.has(name) || workspace?.development.has(name))) return undefined;
  return `${name} is not among the dependencies of ${home.path}`;
}

/** The package of a file: the one with the innermost folder. */
function findPackage(file: string, manifests: readonly Manifest[]): Manifest | undefined {
  return manifests
    .filter((manifest) => manifest.folder === "." || file.startsWith(`${manifest.folder}/`))
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

function stringAt(json: unknown, key: string): string {
  const value = valueAt(json, key);
  return typeof value === "string" ? value : "";
}

function keysAt(json: unknown, key: string): string[] {
  const value = valueAt(json, key);
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function valueAt(json: unknown, key: string): unknown {
  return typeof json === "object" && json !== null ? Reflect.get(json, key) : undefined;
}
