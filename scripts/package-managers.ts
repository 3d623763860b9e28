// Makes the files of a release for Homebrew and winget from the tarball that npm gets:
//
//   tsx scripts/package-managers.ts homebrew TARBALL URL [HOMEPAGE]                prints the formula; URL is the tarball's
//   tsx scripts/package-managers.ts winget TARBALL ZIP URL PUBLISHER FOLDER        writes the manifests; URL is the zip's
//
// The zip holds the files of `npm install --global --prefix FOLDER TARBALL` on 64-bit Windows, with ingle.cmd at its root. The
// default home page is that of the tarball's package.json.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { z } from "zod";

import { run } from "./step.ts";

const WebAddress = z.url({ protocol: /^https$/, error: "must be an https address" });

/** The fields of a release's package.json that are used here. */
const Release = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "must be a release, such as 1.2.3"),
  description: z.string(),
  license: z.string(),
  homepage: z.string().optional(),
  bin: z.object({ ingle: z.string() }),
  engines: z.object({ node: z.string().regex(/^>=\d+\.\d+$/, "must be such as >=20.17") }),
});
type Release = z.infer<typeof Release>;

/**
 * Throws for a tarball without the `ingle` program, for a version that is not a release, and for addresses that are not https.
 */
export async function homebrewFormula(tarball: string, url: string, homepage?: string): Promise<string> {
  const { version, description, license, ...manifest } = await releaseIn(tarball);
  const page = homepage ?? manifest.homepage;
  if (page === undefined)
    throw new Error(
      `The package.json in ${tarball} names no homepage. Give one after the tarball's address.`,
    );
  return `# Made from the npm package by scripts/package-managers.ts.
class Ingle < Formula
  desc ${rubyText(description.replace(/\.$/, ""))}
  homepage ${rubyText(WebAddress.parse(page))}
  url ${rubyText(WebAddress.parse(url))}
  version ${rubyText(version)}
  sha256 ${rubyText(await hashFile(tarball))}
  license ${rubyText(license)}

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
  end

  service do
    run [opt_bin/"ingle", "serve", "--log-format", "json"]
    keep_alive crashed: true
    error_log_path var/"log/ingle.log"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/ingle --version").strip
    assert_match "engine", shell_output("#{bin}/ingle doctor")
  end
end
`;
}

/** The manifests by file name. Throws as above, and for a zip without ingle.cmd. */
export async function wingetManifests(
  tarball: string,
  { zip, url, publisher }: { zip: string; url: string; publisher: string },
): Promise<Readonly<Record<string, string>>> {
  const { version, description, license, engines } = await releaseIn(tarball);
  if (!(await namesIn(zip)).includes("ingle.cmd")) throw new Error(`${zip} has no ingle.cmd at its root.`);
  const id = `${publisher.replaceAll(/[^A-Za-z0-9]/g, "")}.Ingle`;
  const manifest = (type: string, ...lines: string[]): string =>
    `# Made from the npm package by scripts/package-managers.ts.
PackageIdentifier: ${id}
PackageVersion: ${version}
${lines.map((line) => `${line}\n`).join("")}ManifestType: ${type}
ManifestVersion: 1.9.0
`;
  return {
    [`${id}.yaml`]: manifest("version", "DefaultLocale: en-US"),
    [`${id}.locale.en-US.yaml`]: manifest(
      "defaultLocale",
      "PackageLocale: en-US",
      `Publisher: ${JSON.stringify(publisher)}`,
      "PackageName: Ingle",
      `License: ${JSON.stringify(license)}`,
      `ShortDescription: ${JSON.stringify(description)}`,
    ),
    // Without the third key, winget would rename a link to the script to ingle.exe, which Windows does not run.
    [`${id}.installer.yaml`]: manifest(
      "installer",
      "InstallerType: zip",
      "NestedInstallerType: portable",
      "ArchiveBinariesDependOnPath: true",
      "NestedInstallerFiles:",
      "- RelativeFilePath: ingle.cmd",
      "Commands:",
      "- ingle",
      "Dependencies:",
      "  PackageDependencies:",
      "  - PackageIdentifier: OpenJS.NodeJS.LTS",
      `    MinimumVersion: ${engines.node.slice(2)}.0`,
      "Installers:",
      "- Architecture: x64",
      `  InstallerUrl: ${JSON.stringify(WebAddress.parse(url))}`,
      `  InstallerSha256: ${(await hashFile(zip)).toUpperCase()}`,
    ),
  };
}

async function releaseIn(tarball: string): Promise<Release> {
  const file = path.resolve(tarball);
  // A relative name, because some versions of tar read a drive letter as a host.
  const { ok, output } = await run(
    "tar",
    ["-xzOf", path.basename(file), "package/package.json"],
    path.dirname(file),
  );
  if (!ok) throw new Error(`${tarball} is not a tarball of npm: ${output}`);
  return Release.parse(JSON.parse(output));
}

async function hashFile(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** The names in a zip's central directory. */
async function namesIn(zip: string): Promise<string[]> {
  const bytes = await readFile(zip);
  const names: string[] = [];
  for (let at = bytes.indexOf("PK\u0001\u0002"); at !== -1; at = bytes.indexOf("PK\u0001\u0002", at + 4)) {
    const length = at + 46 <= bytes.length ? bytes.readUInt16LE(at + 28) : 0;
    names.push(bytes.toString("utf8", at + 46, at + 46 + length));
  }
  return names;
}

/** A Ruby string literal without interpolation. */
function rubyText(text: string): string {
  return `"${text.replaceAll(/["\\#]/g, String.raw`\$&`)}"`;
}

async function main([manager, tarball = "", ...rest]: readonly string[]): Promise<void> {
  const [first = "", second = "", publisher = "", folder = ""] = rest;
  if (manager === "homebrew" && first !== "") {
    process.stdout.write(await homebrewFormula(tarball, first, rest[1]));
  } else if (manager === "winget" && folder !== "") {
    await mkdir(folder, { recursive: true });
    const manifests = await wingetManifests(tarball, { zip: first, url: second, publisher });
    for (const [name, text] of Object.entries(manifests)) await writeFile(path.join(folder, name), text);
  } else {
    throw new Error("Usage: homebrew TARBALL URL [HOMEPAGE], or winget TARBALL ZIP URL PUBLISHER FOLDER");
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
