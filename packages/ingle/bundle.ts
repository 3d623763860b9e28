// Bundles the command line of @ingle/server and everything that it imports into dist, so that npx installs a few packages instead
// of 200. Native packages, which differ between platforms, and the app's page, which consists of files, are not bundled.
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown, type OutputChunk } from "rolldown";

const here = import.meta.dirname;
const target = path.join(here, "dist");

/** The folder of a workspace package. */
function packageFolder(name: string): string {
  return path.dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
}

/**
 * The entries that are started by file name: the command line, processes and threads. Their code finds each other's files by
 * these names.
 */
const programs = {
  "cli/main": path.join(packageFolder("@ingle/server"), "dist/cli/main.js"),
  "bodies/body-worker": path.join(packageFolder("@ingle/server"), "dist/bodies/body-worker.js"),
  "content/pdf-program": path.join(packageFolder("@ingle/server"), "dist/content/pdf-program.js"),
  "engine-child": path.join(packageFolder("@ingle/engine"), "dist/native/engine-process/engine-child.js"),
  "native-child": path.join(packageFolder("@ingle/engine"), "dist/quantize/native-child.js"),
  "worker-child": path.join(packageFolder("@ingle/engine"), "dist/native/workers/worker-child.js"),
  worker: path.join(packageFolder("@ingle/mlx"), "dist/worker.js"),
};

async function bundle(): Promise<OutputChunk[]> {
  await using build = await rolldown({
    input: programs,
    platform: "node",
    external: ["@ingle/engine-native", "libsql", "sharp"],
    // Its other build finds its parts by a function that is only known when it runs, and would not find them in a bundle.
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    onLog(level, log) {
      // An unresolved import would otherwise fail only when it is used.
      if (level === "warn" && log.code !== "CIRCULAR_DEPENDENCY" && log.code !== "EVAL")
        throw new Error(`${log.code}: ${log.message}`);
    },
  });
  const { output } = await build.write({ dir: target, format: "esm", comments: { legal: true } });
  return output.filter((file) => file.type === "chunk");
}

/** Throws if a chunk expects a program next to itself that is elsewhere. */
function checkPrograms(chunks: readonly OutputChunk[]): void {
  const files = new Set(chunks.map(({ fileName }) => fileName));
  for (const { fileName, code } of chunks) {
    for (const [, name = ""] of code.matchAll(/new URL\("([^"]+\.js)", import\.meta\.url\)/g)) {
      const file = path.posix.join(path.posix.dirname(fileName), name);
      if (!files.has(file)) throw new Error(`dist/${fileName} starts ${file}, which is not in dist.`);
    }
  }
}

/** The folders of the third-party packages whose code is in the chunks. */
function bundledPackages(chunks: readonly OutputChunk[]): string[] {
  const folders = chunks
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/")) ?? []);
  return [...new Set(folders)];
}

/** A package's name, license and the license's text. Throws if it names no license. */
async function readLicense(folder: string): Promise<string> {
  const { name, version, license }: Record<string, unknown> = JSON.parse(
    await readFile(path.join(folder, "package.json"), "utf8"),
  );
  if (typeof license !== "string") throw new Error(`${folder} names no license.`);
  const file = (await readdir(folder)).find((each) => /^(licen[cs]e|copying)(\.|-|$)/i.test(each));
  const text = file === undefined ? "" : `\n${await readFile(path.join(folder, file), "utf8")}`;
  return `## ${String(name)} ${String(version)}\n\nLicense: ${license}\n${text}`;
}

await rm(target, { recursive: true, force: true });
const chunks = await bundle();
checkPrograms(chunks);
const licenses = await Promise.all(bundledPackages(chunks).map(readLicense));
const intro = "# Licenses\n\nThe files in this folder contain code of these packages.";
await writeFile(path.join(target, "LICENSES.md"), `${[intro, ...licenses.toSorted()].join("\n\n")}\n`);
// Copied unchanged, because it must also run in an old Node.
await cp(path.join(packageFolder("@ingle/server"), "bin/start.js"), path.join(target, "start.js"));
