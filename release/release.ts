// The steps of a release, run by .github/workflows/release.yml (docs/testing.md):
//
//   tsx release/release.ts packages FOLDER    packs what is the same on every platform
//   tsx release/release.ts engines FOLDER     packs the engines that `prebuilt` wrote on this machine
//   tsx release/release.ts check FOLDER       fails if a package is not fit to be published, or an engine is missing
//   tsx release/release.ts parts FOLDER       writes ingle.cdx.json, the list of the release's parts in CycloneDX
//   tsx release/release.ts notes FOLDER       writes NOTES.md and SHA256SUMS next to the tarballs
//   tsx release/release.ts publish FOLDER     publishes the tarballs to npm's registry, with provenance
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { packageName, platforms } from "@ingle/engine-native/platforms";
import { packageProblems } from "./package-problems.ts";
import { packEngines, packPackages, publishedFolders, readTarballs } from "./packages.ts";
import { publishArgs } from "./registry.ts";
import { releaseNotes } from "./release-notes.ts";
import { listParts } from "./parts.ts";
import { runTool } from "./tool.ts";

const steps: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  packages: async (folder) => await packPackages(folder),
  engines: async (folder) => {
    if ((await packEngines(folder)) === 0)
      throw new Error("Nothing is built: run `pnpm --filter @ingle/engine-native prebuilt` first.");
  },
  check: async (folder) => {
    const tarballs = await readTarballs(folder);
    const names = new Set(tarballs.map(({ manifest }) => manifest.name));
    const missing = platforms.map((platform) => packageName(platform)).filter((name) => !names.has(name));
    const problems = [...(await packageProblems(tarballs)), ...missing.map((name) => `${name}: is missing`)];
    if (problems.length > 0) throw new Error(problems.join("\n"));
  },
  parts: async (folder) => {
    const [tarball] = await readTarballs(folder);
    const parts = await listParts(tarball?.manifest.version ?? "");
    await writeFile(path.join(folder, "ingle.cdx.json"), `${JSON.stringify(parts, undefined, 2)}\n`);
  },
  notes: async (folder) => {
    const tarballs = await readTarballs(folder);
    const sums = tarballs.map(async ({ file }) => {
      const hash = createHash("sha256").update(await readFile(file));
      return `${hash.digest("hex")}  ${path.basename(file)}\n`;
    });
    await writeFile(path.join(folder, "SHA256SUMS"), (await Promise.all(sums)).join(""));
    const changelogs = (await publishedFolders()).map(
      async (each) => await readFile(path.join(each, "CHANGELOG.md"), "utf8").catch(() => ""),
    );
    const version = tarballs[0]?.manifest.version ?? "";
    await writeFile(path.join(folder, "NOTES.md"), releaseNotes(await Promise.all(changelogs), version));
  },
  publish: async (folder) => {
    for (const { file } of await readTarballs(folder))
      await runTool("npx", ["--yes", "pnpm@12", ...publishArgs(file), "--provenance"], { cwd: folder });
  },
};

const [, , name = "", folder = ""] = process.argv;
const step = steps[name];
if (step === undefined || folder === "")
  throw new Error(`Usage: tsx release/release.ts ${Object.keys(steps).join("|")} FOLDER`);
await step(path.resolve(folder));
