// The Homebrew formula of a release, made from the tarball that npm gets: `tsx scripts/homebrew-formula.ts TARBALL URL [HOMEPAGE]` prints it.
// URL is where the release offers this tarball. The home page is that of the tarball's package.json unless one is given.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { z } from "zod";

import { run } from "./run.ts";

const WebAddress = z.url({ protocol: /^https$/, error: "must be an https address" });

const Manifest = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "must be a release, such as 1.2.3"),
  description: z.string(),
  license: z.string(),
  homepage: z.string().optional(),
  bin: z.object({ ingle: z.string() }),
});

/** Throws for a tarball that has no `ingle` program, for a version that is no release, and for addresses that are not https. */
export async function homebrewFormula(tarball: string, url: string, homepage?: string): Promise<string> {
  const manifest = Manifest.parse(JSON.parse(await manifestIn(tarball)));
  const digest = createHash("sha256").update(await readFile(tarball));
  const page = homepage ?? manifest.homepage;
  if (page === undefined)
    throw new Error(
      `The package.json in ${tarball} names no homepage. Give one after the tarball's address.`,
    );
  return `# Made from the npm package by scripts/homebrew-formula.ts.
class Ingle < Formula
  desc ${rubyText(manifest.description.replace(/\.$/, ""))}
  homepage ${rubyText(WebAddress.parse(page))}
  url ${rubyText(WebAddress.parse(url))}
  version ${rubyText(manifest.version)}
  sha256 ${rubyText(digest.digest("hex"))}
  license ${rubyText(manifest.license)}

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

async function manifestIn(tarball: string): Promise<string> {
  const file = path.resolve(tarball);
  // With a relative name, because some tars read a drive letter as a host.
  const { ok, output } = await run(
    "tar",
    ["-xzOf", path.basename(file), "package/package.json"],
    path.dirname(file),
  );
  if (!ok) throw new Error(`${tarball} is not a tarball of npm: ${output}`);
  return output;
}

/** A literal of Ruby in which nothing is interpolated. */
function rubyText(text: string): string {
  return `"${text.replaceAll(/["\\#]/g, String.raw`\$&`)}"`;
}

if (process.argv[1] === import.meta.filename) {
  const [tarball, url, homepage] = process.argv.slice(2);
  if (tarball === undefined || url === undefined)
    throw new Error("Usage: tsx scripts/homebrew-formula.ts TARBALL URL [HOMEPAGE]");
  process.stdout.write(await homebrewFormula(tarball, url, homepage));
}
