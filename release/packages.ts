// The packages that a release publishes, and their tarballs.
import { createReadStream } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import {
  hostPlatform,
  packageName,
  platformManifest,
  platforms,
  type Platform,
} from "@ingle/engine-native/platforms";
import { extract } from "tar-stream";
import { z } from "zod";
import { runTool } from "./tool.ts";

const checkout = path.join(import.meta.dirname, "..");
const packagesFolder = path.join(checkout, "packages");
const native = path.join(packagesFolder, "engine-native");

const Names = z.record(z.string(), z.string()).default({});
/** The fields of a package.json that are used here. */
export const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  private: z.boolean().default(false),
  description: z.string().optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).default([]),
  repository: z.object({ url: z.string() }).optional(),
  engines: Names,
  scripts: Names,
  exports: z.unknown(),
  dependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
});
export type Manifest = z.infer<typeof Manifest>;

export async function readManifest(folder: string): Promise<Manifest> {
  return Manifest.parse(JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")));
}

/** The folders of the packages that are the same on every platform. */
export async function publishedFolders(): Promise<string[]> {
  const folders = (await readdir(packagesFolder)).map((name) => path.join(packagesFolder, name));
  const manifests = await Promise.all(folders.map(readManifest));
  return folders.filter((_folder, index) => manifests[index]?.private === false);
}

/** The repository of the release, from GitHub Actions' variables: the checkout itself names no host. */
export interface Repository {
  readonly GITHUB_SERVER_URL: string;
  readonly GITHUB_REPOSITORY: string;
}

/** Packs the packages that are the same on every platform. Needs `pnpm build` first. scripts/pnpmfile.cjs completes their manifests. */
export async function packPackages(target: string, repository?: Repository): Promise<void> {
  await mkdir(target, { recursive: true });
  const env = { ...process.env, ...repository };
  for (const cwd of await publishedFolders())
    await runTool("npx", ["--yes", "pnpm@12", "pack", "--pack-destination", target], { cwd, env });
}

/** Packs every prebuilt engine that `pnpm --filter @ingle/engine-native prebuilt` wrote. Returns how many there were. */
export async function packEngines(target: string, repository?: Repository): Promise<number> {
  const folder = path.join(native, "prebuilt");
  const names = await readdir(folder).catch(() => []);
  for (const name of names) await packEngine(path.join(folder, name), target, repository);
  return names.length;
}

/**
 * Packs the addon of the checkout as this platform's prebuilt package: for tests, which would take minutes longer if the code for
 * every processor were built.
 */
export async function packCheckoutEngine(target: string, repository?: Repository): Promise<void> {
  const addon = path.join(native, "build", "Release", "ingle.node");
  await packForTests(hostPlatform(), [addon], target, repository);
}

/** Packs the prebuilt engines, and a package without an engine for each other platform: Yarn looks up every optional dependency. */
export async function packEveryEngine(target: string, repository?: Repository): Promise<void> {
  await packEngines(target, repository);
  const packed = new Set((await readTarballs(target)).map(({ manifest }) => manifest.name));
  for (const platform of platforms.filter((each) => !packed.has(packageName(each))))
    await packForTests(platform, [], target, repository);
}

async function packForTests(
  platform: Platform,
  files: readonly string[],
  target: string,
  repository?: Repository,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-engine-"));
  for (const file of [...files, path.join(checkout, "LICENSE")])
    await cp(file, path.join(folder, path.basename(file)));
  await writeFile(path.join(folder, "README.md"), `# ${packageName(platform)}\n`);
  const manifest = {
    ...platformManifest(platform, await readManifest(native)),
    description: "Ingle's native engine, for tests.",
  };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  await packEngine(folder, target, repository);
  await rm(folder, { recursive: true });
}

async function packEngine(folder: string, target: string, from?: Repository): Promise<void> {
  await mkdir(target, { recursive: true });
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = { ...process.env, ...from };
  if (server !== undefined && name !== undefined) {
    const file = path.join(folder, "package.json");
    const manifest: object = JSON.parse(await readFile(file, "utf8"));
    const repository = { type: "git", url: `git+${server}/${name}.git` };
    await writeFile(file, `${JSON.stringify({ ...manifest, repository }, undefined, 2)}\n`);
  }
  await runTool("npm", ["pack", "--silent", "--pack-destination", target], { cwd: folder });
}

/** The tarballs in a folder, with each package after its dependencies, so that nobody can install half a release. */
export async function readTarballs(folder: string): Promise<Tarball[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const tarballs = await Promise.all(names.map((name) => readTarball(path.join(folder, name))));
  const left = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]));
  const ordered: Tarball[] = [];
  const add = (tarball: Tarball): void => {
    if (!left.delete(tarball.manifest.name)) return;
    for (const name of listDependencies(tarball.manifest)) {
      const dependency = left.get(name);
      if (dependency !== undefined) add(dependency);
    }
    ordered.push(tarball);
  };
  for (const tarball of tarballs) add(tarball);
  return ordered;
}

export interface Tarball {
  readonly file: string;
  readonly manifest: Manifest;
  /** Paths in the package, without npm's `package/`. */
  readonly files: readonly string[];
}

async function readTarball(file: string): Promise<Tarball> {
  const files: string[] = [];
  let manifest = "";
  for await (const entry of createReadStream(file).pipe(createGunzip()).pipe(extract())) {
    const name = entry.header.name.slice("package/".length);
    files.push(name);
    if (name === "package.json") manifest = await text(entry);
    else entry.resume();
  }
  return { file, manifest: Manifest.parse(JSON.parse(manifest)), files };
}

export function listDependencies(manifest: Manifest): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}
