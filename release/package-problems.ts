// Checks that a package is fit to be published.
import { readFile } from "node:fs/promises";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { listDependencies, type Tarball } from "./packages.ts";

/** Scripts that npm would run on the user's machine. */
const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** Every problem of a release's packages, as `name: sentence`. */
export async function packageProblems(tarballs: readonly Tarball[]): Promise<string[]> {
  const released = new Map(tarballs.map(({ manifest }) => [manifest.name, manifest.version]));
  const problems = await Promise.all(
    tarballs.map(async (tarball) => {
      const found = [
        ...manifestProblems(tarball),
        ...dependencyProblems(tarball, released),
        ...(await publintProblems(tarball)),
        ...(await typeProblems(tarball)),
      ];
      return found.map((sentence) => `${tarball.manifest.name}: ${sentence}`);
    }),
  );
  return problems.flat();
}

function manifestProblems({ manifest, files }: Tarball): string[] {
  const { description, license, keywords, repository, engines, scripts } = manifest;
  const expected: [boolean, string][] = [
    [description !== undefined, "has no description"],
    [license === "MIT", "has no license"],
    [keywords.length > 0, "has no keywords"],
    [repository !== undefined, "has no repository; set GITHUB_SERVER_URL and GITHUB_REPOSITORY"],
    [engines["node"] !== undefined, "does not say which Node it needs"],
    [files.includes("README.md"), "has no README.md"],
    [files.includes("LICENSE"), "has no LICENSE"],
    [!installScripts.some((name) => name in scripts), "runs a script when it is installed"],
  ];
  return expected.filter(([isTrue]) => !isTrue).map(([, sentence]) => sentence);
}

/** Platform packages are built on other machines, and may be missing here. */
const isPlatform = (name: string): boolean => name.startsWith("@ingle/engine-native-");

function dependencyProblems({ manifest }: Tarball, released: ReadonlyMap<string, string>): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const versions = { ...dependencies, ...optionalDependencies, ...peerDependencies };
  return listDependencies(manifest).flatMap((name) => {
    const version = versions[name] ?? "";
    if (name in peerDependencies && !name.startsWith("@ingle/")) {
      // A peer is installed by the user, perhaps for other programs too, and is then the newest version.
      return /^\^\d+\.\d+\.\d+$/.test(version)
        ? []
        : [`has the peer ${name}@${version}, not ^ and a version`];
    }
    if (!/^\d+\.\d+\.\d+/.test(version)) return [`depends on ${name}@${version}, not on an exact version`];
    if (!name.startsWith("@ingle/")) return [];
    if (version !== manifest.version) return [`depends on ${name}@${version}, but has ${manifest.version}`];
    return released.has(name) || isPlatform(name) ? [] : [`depends on ${name}, which is not published`];
  });
}

async function publintProblems({ file }: Tarball): Promise<string[]> {
  // A copy, because a Buffer may share its memory with others.
  const tarball = new Uint8Array(await readFile(file)).buffer;
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map(
    (message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`,
  );
}

/** The packages are ES modules, so only problems of the resolvers that load those count. */
const resolutions: ReadonlySet<unknown> = new Set(["node16-esm", "bundler"]);

async function typeProblems({ file, manifest }: Tarball): Promise<string[]> {
  if (!JSON.stringify(manifest.exports ?? {}).includes('"types"')) return [];
  const found = await checkPackage(createPackageFromTarballData(await readFile(file)), {
    // Entries of programs, which nobody imports.
    excludeEntrypoints: [/bin\//],
  });
  if (found.types === false) return ["has no types"];
  return found.problems
    .filter((problem) => !("resolutionKind" in problem) || resolutions.has(problem.resolutionKind))
    .map((problem) => `types: ${problem.kind} ${JSON.stringify(problem)}`);
}
