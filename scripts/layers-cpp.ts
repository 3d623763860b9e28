// The layers of packages/engine-native/src: which folder may include which, who may see a third party's
// headers, and that no include runs in a circle.
import path from "node:path";

import { isTest, lineAt, type TextFile } from "./files.ts";
import { findCircles } from "./layers-folders.ts";

const source = "packages/engine-native/src/";

/** One C++ folder, and what its files may include besides the standard library. */
interface Layer {
  /** Our folders below this one. */
  readonly below: readonly string[];
  /** Third-party headers. */
  readonly others: RegExp;
}

const none = /^$/;
/** Of Linux, POSIX and Windows. */
const systemHeader = /^((linux|sys)\/\w+|fcntl|io|pthread|sched|unistd|windows)\.h$/;
const layers: Readonly<Record<string, Layer>> = {
  base: { below: [], others: none },
  sched: { below: ["base"], others: none },
  grammar: { below: ["base"], others: none },
  sampling: { below: ["base", "grammar"], others: none },
  process: { below: ["base"], others: systemHeader },
  llama: { below: ["base", "grammar", "sampling", "process"], others: /^(?!napi|node_api|js_native_api|uv)/ },
  engine: { below: ["base", "sched", "grammar", "sampling", "process", "llama"], others: none },
  napi: {
    below: ["base", "sched", "grammar", "sampling", "process", "llama", "engine"],
    others: /^(napi|node_api|js_native_api|uv|sys\/socket)\.h$/,
  },
};

/** `<vector>` and `<cstdint>`, but not `<napi.h>`. */
const standardHeader = /^[a-z0-9_]+$/;

/** The scheduler is a function of its input: time and randomness are parameters, and nothing is shared. */
const impure =
  /^(chrono|ctime|random|thread|mutex|shared_mutex|condition_variable|atomic|fstream|iostream|filesystem)$/;

interface Include {
  readonly from: string;
  readonly line: number;
  /** As written between the quotes or brackets. */
  readonly header: string;
  /** Our file, or undefined for a third-party header. */
  readonly target: string | undefined;
}

/** Every forbidden include and every circle, as `path:line: sentence`. */
export function includeProblems(files: readonly TextFile[]): string[] {
  const ours = files.filter((file) => file.path.startsWith(source) && /\.(cpp|h)$/.test(file.path));
  const names = new Set(ours.map((file) => file.path));
  const includes = ours.flatMap((file) => readIncludes(file, names));
  const problems = includes.flatMap((include) => {
    const problem = layerProblem(include);
    return problem === undefined ? [] : [`${include.from}:${include.line}: ${problem}`];
  });
  const own = includes.flatMap(({ from, target }) => (target === undefined ? [] : [{ from, to: target }]));
  const circles = findCircles(own).map((circle) => `${circle[0]}: includes itself: ${circle.join(" -> ")}`);
  return [...problems, ...circles];
}

function readIncludes(file: TextFile, names: ReadonlySet<string>): Include[] {
  return [...file.text.matchAll(/^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]/gm)].map((match) => {
    const header = match[1] ?? "";
    const beside = path.posix.join(path.posix.dirname(file.path), header);
    const target = [beside, source + header].find((name) => names.has(name));
    return { from: file.path, line: lineAt(file.text, match.index), header, target };
  });
}

function layerProblem({ from, header, target }: Include): string | undefined {
  const folder = topFolder(from);
  const layer = layers[folder];
  if (layer === undefined) return `${folder}/ has no layer; add it to scripts/layers-cpp.ts`;
  if (target !== undefined) {
    const below = topFolder(target);
    return below === folder || layer.below.includes(below)
      ? undefined
      : `${folder}/ may not include ${below}/`;
  }
  if (standardHeader.test(header)) {
    const isImpure = folder === "sched" && !isTest(from) && impure.test(header);
    return isImpure ? `sched/ is pure and may not include <${header}>` : undefined;
  }
  return layer.others.test(header) ? undefined : `${folder}/ may not include ${header}`;
}

function topFolder(file: string): string {
  return file.slice(source.length).split("/")[0] ?? "";
}
