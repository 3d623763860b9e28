// The layers of a package: a file imports only from its own folder and from lower ones, types included, and no imports form a
// circle. A step of layers.ts.
import path from "node:path";

import { isTest, lineAt, type TextFile } from "./files.ts";

/**
 * The folders of each source folder, lowest first. Folders in one row do not import each other. A file beside the folders has a row by
 * its name, or belongs to `"."`.
 */
type FolderLayers = Readonly<Record<string, readonly (readonly string[])[]>>;

/** The plan of docs/architecture.md. */
export const layers: FolderLayers = {
  "packages/engine/src": [
    ["base"],
    ["machine"],
    ["native"],
    ["media"],
    ["prompt"],
    ["generate"],
    ["library"],
    ["load", "quantize"],
    ["."],
  ],
  "packages/server/src": [
    [
      "api-key.ts",
      "present.ts",
      "seconds.ts",
      "signals.ts",
      "this-package.ts",
      "tracing",
      "unwritable.ts",
      "variants.ts",
      "watched-files.ts",
      "wire-error.ts",
    ],
    ["bodies", "file-lock.ts", "mcp", "state-file.ts", "this-machine.ts"],
    ["access"],
    ["content", "openapi", "settings"],
    ["config.ts", "http", "stored"],
    ["batches", "chats", "http-server.ts", "models", "open-keys.ts"],
    ["control", "jobs", "kv-events", "live", "metrics", "tls-files.ts"],
    ["logger.ts"],
    ["generation"],
    ["plugins"],
    ["apis", "page"],
    ["app.ts"],
    ["listener.ts"],
    ["desktop-app.ts", "serve.ts"],
    ["cli", "index.ts"],
  ],
  "packages/web/src": [
    ["strings", "retrieval"],
    ["design", "router.ts"],
    ["format"],
    ["connection", "markdown"],
    ["conversations"],
    ["attachments", "imports"],
    ["replies"],
    ["library"],
    ["sampling", "first-run"],
    ["chat"],
    ["settings", "server", "text"],
    ["app"],
    ["."],
  ],
};

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`; commented lines do not match. */
const importPattern =
  /^(?:import|export)\s[^;"']*?from\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|^[^/*\n]*?\bimport\(\s*["']([^"']+)["']/gm;

/** One file imports another. */
interface Import {
  readonly from: string;
  readonly line: number;
  /** As written. */
  readonly target: string;
  /** A path from the root for a relative target. */
  readonly to: string;
}

/** Every import that goes up and every circle, as `path:line: sentence`. */
export function folderProblems(files: readonly TextFile[], plan: FolderLayers = layers): string[] {
  const all = files.filter(
    ({ path: name }) => /\.tsx?$/.test(name) && !isTest(name) && !name.startsWith("vendor/"),
  );
  const sources = all.filter(({ path: name }) =>
    Object.keys(plan).some((folder) => name.startsWith(`${folder}/`)),
  );
  const imports = sources.flatMap(readImports);
  return [
    ...imports.flatMap((each) => upwardProblem(each, plan)),
    ...sources.flatMap(({ path: name }) => unknownFolder(name, plan)),
    ...findCircles(all.flatMap(readImports)).map(
      (circle) => `${circle[0]}:1: a circle of imports: ${circle.join(" → ")}`,
    ),
  ];
}

/** Every import of a file, those of types too. */
export function readImports({ path: from, text }: TextFile): Import[] {
  return [...text.matchAll(importPattern)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? "";
    const to = target.startsWith(".") ? path.posix.join(path.posix.dirname(from), target) : target;
    return { from, line: lineAt(text, match.index), target, to };
  });
}

/** The number of a file's row, and its folder; undefined outside the plan. */
function findLayer(name: string, plan: FolderLayers): { row: number; folder: string } | undefined {
  const source = Object.keys(plan).find((each) => name.startsWith(`${each}/`));
  const rows = source === undefined ? undefined : plan[source];
  if (source === undefined || rows === undefined) return undefined;
  const [first = "", ...rest] = name.slice(source.length + 1).split("/");
  const isListed = rows.some((row) => row.includes(first));
  const folder = rest.length > 0 || isListed ? first : ".";
  return { row: rows.findIndex((row) => row.includes(folder)), folder };
}

function unknownFolder(name: string, plan: FolderLayers): string[] {
  const layer = findLayer(name, plan);
  if (layer === undefined || layer.row >= 0) return [];
  return [`${name}:1: the folder ${layer.folder} has no layer; add it to scripts/layers-folders.ts`];
}

function upwardProblem({ from, line, to }: Import, plan: FolderLayers): string[] {
  const own = findLayer(from, plan);
  const other = findLayer(to, plan);
  if (own === undefined || other === undefined || other.row < own.row || other.folder === own.folder)
    return [];
  const which = other.row === own.row ? "beside" : "above";
  return [
    `${from}:${line}: ${own.folder} may not import ${other.folder}, which is ${which} it (scripts/layers-folders.ts)`,
  ];
}

/** One circle of imports for each knot of files, in the order of the imports. */
export function findCircles(imports: readonly Pick<Import, "from" | "to">[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (name: string, trail: string[]): void => {
    const at = trail.indexOf(name);
    if (at >= 0) found.push([...trail.slice(at), name]);
    if (at >= 0 || done.has(name)) return;
    for (const to of targets.get(name) ?? []) visit(to, [...trail, name]);
    done.add(name);
  };
  for (const name of targets.keys()) visit(name, []);
  return found;
}
