// Compares an installed npm package with the registry's tarball of the same version, whose checksum the registry publishes.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { EngineError } from "../base/errors.ts";
import type { LibraryOptions } from "./library-options.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { registryChecksum } from "./npm-package.ts";
import { retry, smallFailuresMax } from "./retry.ts";

/** Where a version of a package is installed. */
export interface InstalledPackage {
  name: string;
  version: string;
  folder: string;
}

/** Paths in the package, with slashes, sorted. A package without differences has none. */
export interface PackageDifferences {
  /** How many files the registry's package has. */
  files: number;
  changed: string[];
  missing: string[];
  /** Files that are in no package of this version. Dependencies below it do not count. */
  added: string[];
}

/**
 * Downloads the package and compares the content of its files; writes nothing. Throws `model_not_found` (the registry does not have it),
 * `download_failed`, `integrity_failed` (the registry gives no sha512, or another one than that of its tarball), or the signal's reason.
 */
export async function comparePackage(
  { name, version, folder }: InstalledPackage,
  { env, cwd, wait, signal }: LibraryOptions = {},
): Promise<PackageDifferences> {
  const registry = await NpmRegistry.open(env, cwd);
  const published = await retry(
    async () => {
      const { url, integrity } = await registry.resolve(name, version, { signal });
      const expected = registryChecksum(integrity, `${name}@${version}`);
      using stream = await registry.openTarball(url, name, { offset: 0, signal });
      return await readPackage(stream.body, expected, `${name}@${version}`);
    },
    { failuresMax: smallFailuresMax, wait, signal },
  );
  const present = new Set(await packageFiles(folder));
  const shared = [...published].filter(([file]) => present.has(file));
  const digests = await Promise.all(
    shared.map(async ([file]) => await digest(createReadStream(path.join(folder, file)))),
  );
  return {
    files: published.size,
    changed: shared.filter(([, expected], index) => digests[index] !== expected).map(([file]) => file),
    missing: [...published.keys()].filter((file) => !present.has(file)).toSorted(),
    added: [...present].filter((file) => !published.has(file)).toSorted(),
  };
}

/** Digests of a tarball's files by their paths. */
async function readPackage(
  body: AsyncIterable<Uint8Array>,
  expected: string,
  wanted: string,
): Promise<Map<string, string>> {
  const whole = createHash("sha512");
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      whole.update(chunk);
      done(null, chunk);
    },
  });
  const entries = extract();
  const files = new Map<string, string>();
  const reading = (async () => {
    for await (const entry of entries) {
      if (entry.header.type === "file") files.set(withoutRoot(entry.header.name), await digest(entry));
      else entry.resume();
    }
  })();
  await Promise.all([pipeline(Readable.from(body), hashing, createGunzip(), entries), reading]);
  if (`sha512-${whole.digest("base64")}` === expected)
    return new Map([...files].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const message = `The tarball of ${wanted} does not have the checksum that your npm registry gives for it.`;
  throw new EngineError("integrity_failed", message);
}

/** npm's packages are in a folder, usually `package/`, which installing leaves out. */
function withoutRoot(name: string): string {
  return name.split("/").slice(1).join("/");
}

async function digest(bytes: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) {
    if (chunk instanceof Uint8Array) hash.update(chunk);
  }
  return hash.digest("hex");
}

async function packageFiles(folder: string, below = ""): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(path.join(folder, below), { withFileTypes: true })) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== "node_modules")
      found.push(...(await packageFiles(folder, name)));
    else if (!entry.isDirectory()) found.push(name);
  }
  return found;
}
