// The files of a release, for tests: INGLE_PACKED names a folder with tarballs, such as those that the release workflow built for
// every platform; without it, the checkout is packed with its own build of the engine.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { packCheckoutEngine, packPackages, readTarballs, type Repository, type Tarball } from "./packages.ts";
import { Registry } from "./registry.ts";

const repository: Repository = { GITHUB_SERVER_URL: "https://git.example", GITHUB_REPOSITORY: "ingle/ingle" };

export interface PublishedRelease extends AsyncDisposable {
  readonly tarballs: readonly Tarball[];
  /** The folder with the tarballs. */
  readonly registry: Registry;
}

/** `packEngine` packs the engine of this platform. */
export async function publishRelease(
  packEngine: (target: string, repository?: Repository) => Promise<void> = packCheckoutEngine,
): Promise<PublishedRelease> {
  const packed = process.env["INGLE_PACKED"];
  const folder = packed ?? (await mkdtemp(path.join(tmpdir(), "ingle-packed-")));
  if (packed === undefined) {
    await packPackages(folder, repository);
    await packEngine(folder, repository);
  }
  const tarballs = await readTarballs(folder);
  const registry = await Registry.start();
  await registry.publish(tarballs);
  return {
    tarballs,
    registry,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      if (packed === undefined) await rm(folder, { recursive: true });
    },
  };
}
