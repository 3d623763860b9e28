// What Homebrew and winget get with a release.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { homebrewFormula, wingetManifests } from "./package-managers.ts";
import { root } from "./files.ts";
import { run } from "./step.ts";

const url = "https://releases.example/ingle-1.2.3.tgz";
const manifest = {
  name: "ingle",
  version: "1.2.3",
  description: 'Runs "models" #{here}.',
  license: "MIT",
  homepage: "https://ingle.example",
  bin: { ingle: "bin/ingle.js" },
  engines: { node: ">=20.17" },
};

/** Nothing else here needs Ruby. */
const hasRuby = spawnSync("ruby", ["--version"]).error === undefined;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-formula-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A tarball as `npm pack` makes it, with this package.json. */
async function packed(changes: object = {}): Promise<string> {
  await mkdir(path.join(folder, "package"), { recursive: true });
  await writeFile(path.join(folder, "package", "package.json"), JSON.stringify({ ...manifest, ...changes }));
  await run("tar", ["-czf", "ingle.tgz", "package"], folder);
  return path.join(folder, "ingle.tgz");
}

describe("the formula of Homebrew", () => {
  it("has the tarball's version, licence and checksum", async () => {
    const tarball = await packed();
    const formula = await homebrewFormula(tarball, url);
    const digest = createHash("sha256")
      .update(await readFile(tarball))
      .digest("hex");
    expect(formula).toContain(`  url "${url}"\n  version "1.2.3"\n  sha256 "${digest}"\n  license "MIT"\n`);
    expect(formula).toContain(String.raw`  desc "Runs \"models\" \#{here}"`);
    expect(formula).toContain('  homepage "https://ingle.example"\n');
  });

  it.runIf(hasRuby)("is Ruby", async () => {
    const input = await homebrewFormula(await packed(), url);
    const { stdout, stderr } = spawnSync("ruby", ["-c"], { input, encoding: "utf8", timeout: 20_000 });
    expect({ stdout, stderr }).toEqual({ stdout: "Syntax OK\n", stderr: "" });
  });

  it("invents no home page", async () => {
    const tarball = await packed({ homepage: undefined });
    await expect(homebrewFormula(tarball, url)).rejects.toThrow("names no homepage");
    expect(await homebrewFormula(tarball, url, "https://models.example")).toContain(
      '"https://models.example"',
    );
  });

  it.each([
    ["a version that is no release", { version: "1.2.3-next.1" }, url, "must be a release"],
    ["a package without the program", { bin: { other: "x.js" } }, url, "expected string"],
    ["an address that is not https", {}, "http://releases.example/ingle.tgz", "must be an https address"],
  ])("refuses %s", async (_what, changes, address, message) => {
    await expect(homebrewFormula(await packed(changes), address)).rejects.toThrow(message);
  });

  it("refuses a file that is no tarball", async () => {
    const file = path.join(folder, "not.tgz");
    await writeFile(file, "no");
    await expect(homebrewFormula(file, url)).rejects.toThrow("is not a tarball of npm");
  });
});

/** An archive with one stored file of this name. */
async function zipped(name: string): Promise<string> {
  const sizes = Buffer.alloc(42);
  sizes.writeUInt16LE(name.length, 24);
  const file = path.join(folder, "ingle.zip");
  await writeFile(file, Buffer.concat([Buffer.from("PK\u0001\u0002"), sizes, Buffer.from(name)]));
  return file;
}

describe("the manifests of winget", () => {
  const publisher = "Ingle & friends";

  it("are written by the script", async () => {
    const [tarball, zip, out] = [await packed(), await zipped("ingle.cmd"), path.join(folder, "winget")];
    const script = path.join(root, "scripts", "package-managers.ts");
    const args = [
      "--import",
      "tsx",
      script,
      "winget",
      tarball,
      zip,
      url.replace("tgz", "zip"),
      publisher,
      out,
    ];
    expect(await run(process.execPath, args, root)).toEqual({ ok: true, output: "" });
    const digest = createHash("sha256")
      .update(await readFile(zip))
      .digest("hex")
      .toUpperCase();
    const head =
      "# Made from the npm package by scripts/package-managers.ts.\nPackageIdentifier: Inglefriends.Ingle\nPackageVersion: 1.2.3\n";
    const read = async (kind: string): Promise<string> =>
      await readFile(path.join(out, `Inglefriends.Ingle${kind}.yaml`), "utf8");
    expect(await read("")).toBe(
      `${head}DefaultLocale: en-US\nManifestType: version\nManifestVersion: 1.9.0\n`,
    );
    expect(await read(".locale.en-US")).toContain(String.raw`ShortDescription: "Runs \"models\" #{here}."`);
    expect(await read(".installer")).toBe(`${head}InstallerType: zip
NestedInstallerType: portable
ArchiveBinariesDependOnPath: true
NestedInstallerFiles:
- RelativeFilePath: ingle.cmd
Commands:
- ingle
Dependencies:
  PackageDependencies:
  - PackageIdentifier: OpenJS.NodeJS.LTS
    MinimumVersion: 20.17.0
Installers:
- Architecture: x64
  InstallerUrl: "https://releases.example/ingle-1.2.3.zip"
  InstallerSha256: ${digest}
ManifestType: installer
ManifestVersion: 1.9.0
`);
  });

  it("are refused for a zip without the program at its root", async () => {
    const facts = { zip: await zipped("ingle/ingle.cmd"), url, publisher };
    await expect(wingetManifests(await packed(), facts)).rejects.toThrow("has no ingle.cmd at its root");
  });
});
