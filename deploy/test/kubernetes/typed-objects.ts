// Checks with the TypeScript compiler that objects have the fields of their types (published-types.ts).
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

/** An object and where it comes from, for messages. */
export interface NamedObject {
  readonly from: string;
  readonly object: { readonly apiVersion: string; readonly kind: string };
}

const run = promisify(execFile);
const FoundMistakes = z.object({ code: z.union([z.literal(1), z.literal(2)]), stdout: z.string() });
const root = path.join(import.meta.dirname, "../../..");
const compiler = path.join(root, "node_modules/.bin/tsc");
/** Inside the package, so that the compiler finds what published-types.ts imports. */
const scratch = path.join(root, "deploy/node_modules/.cache/kubernetes");
const compileMaxMs = 120_000;
const outputBytesMax = 4 * 1024 * 1024;

/** One sentence for each mistake; empty if all objects are valid. */
export async function typeProblems(objects: readonly NamedObject[]): Promise<string[]> {
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(path.join(scratch, "objects-"));
  try {
    const types = path.relative(folder, path.join(import.meta.dirname, "published-types.ts"));
    const lines = [`import type { Published } from ${JSON.stringify(types)};`];
    // One object per line: the line's number identifies the object.
    for (const { object } of objects) lines.push(declared(object, lines.length));
    const file = path.join(folder, "objects.ts");
    await writeFile(file, lines.join("\n"));
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(settings(file)));
    return readable(await compiled(folder), objects);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function declared(object: NamedObject["object"], index: number): string {
  const type = `Published[${JSON.stringify(`${object.apiVersion} ${object.kind}`)}]`;
  return `export const object${index}: ${type} = ${JSON.stringify(object)};`;
}

function settings(file: string): object {
  return {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: { noEmit: true, tsBuildInfoFile: null, incremental: false, types: [] },
    // `include` would leave out files in node_modules.
    files: [file],
    include: [],
    references: [],
  };
}

/** The compiler's output. It exits with 1 or 2 if there are mistakes; any other failure is thrown. */
async function compiled(folder: string): Promise<string> {
  const options = { cwd: folder, timeout: compileMaxMs, maxBuffer: outputBytesMax };
  try {
    return (await run(compiler, ["--project", folder, "--pretty", "false"], options)).stdout;
  } catch (error) {
    const { success, data } = FoundMistakes.safeParse(error);
    if (!success) throw error;
    return data.stdout;
  }
}

/** `objects.ts(7,…): error TS2353: …`, with the lines of explanation below it. */
function readable(output: string, objects: readonly NamedObject[]): string[] {
  const problems = output.split(/\n(?=\S)/).filter((text) => text.trim() !== "");
  return problems.map((problem) => {
    const line = /objects\.ts\((\d+),/.exec(problem)?.[1];
    const found = line === undefined ? undefined : objects[Number(line) - 2];
    if (found === undefined) return problem.trim();
    return `${found.from}, ${found.object.kind}: ${problem.replace(/^.*?: error /, "").trim()}`;
  });
}
