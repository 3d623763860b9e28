// Prepares llama.cpp's sources in source/: clones them from the git bundle in the registry package, compares commit and tree with
// the pinned ones, applies our patches, copies our own files, and writes a stamp so that the next build skips all of this.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const sourceDir = path.join(here, "source");
const patchesDir = path.join(here, "patches");
/** Our own files, at their paths in llama.cpp's sources. */
const filesDir = path.join(here, "files");
const stampFile = path.join(sourceDir, ".ingle-stamp");

interface Pin {
  release: string;
  commit: string;
  tree: string;
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

function readPin(): Pin {
  const manifest: { "llama.cpp": Pin } = JSON.parse(readFileSync(path.join(here, "package.json"), "utf8"));
  return manifest["llama.cpp"];
}

function patchFiles(): string[] {
  if (!existsSync(patchesDir)) return [];
  return readdirSync(patchesDir)
    .filter((name) => name.endsWith(".patch"))
    .toSorted()
    .map((name) => path.join(patchesDir, name));
}

function ownFiles(): string[] {
  return readdirSync(filesDir, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(filesDir, name))
    .filter((file) => statSync(file).isFile())
    .toSorted();
}

/** The stamp for these inputs; any change of pin, patch or file prepares source/ again. */
function wantedStamp(pin: Pin, patches: string[]): string {
  const hash = createHash("sha256");
  for (const file of [...patches, ...ownFiles()]) hash.update(path.basename(file)).update(readFileSync(file));
  return `${pin.release} ${pin.commit} ${pin.tree} patches:${hash.digest("hex")}\n`;
}

function bundlePath(): string {
  // By path: the package's `exports` hide everything except its entry, and pnpm links it here.
  return path.join(here, "node_modules", "node-llama-cpp", "llama", "gitRelease.bundle");
}

function cloneVerified(pin: Pin, into: string): void {
  // Keeps the release's line endings: the tree is compared byte for byte, on Windows too.
  git(
    here,
    "-c",
    "core.autocrlf=false",
    "-c",
    "advice.detachedHead=false",
    "clone",
    "--quiet",
    bundlePath(),
    into,
  );
  const commit = git(into, "rev-parse", "HEAD");
  const tree = git(into, "rev-parse", "HEAD^{tree}");
  if (commit !== pin.commit || tree !== pin.tree) {
    throw new Error(
      `The llama.cpp bundle holds commit ${commit} (tree ${tree}), but ${pin.commit} (tree ${pin.tree}) is pinned. ` +
        "Reinstall with `pnpm install --force`; if that does not help, the package was tampered with.",
    );
  }
}

/** Files that stay as they were keep their times: a patch must not compile the thousand shaders of a build for Vulkan again. */
function keepTimes(fresh: string): void {
  if (!existsSync(sourceDir)) return;
  for (const name of readdirSync(fresh, { recursive: true, encoding: "utf8" })) {
    const [file, old] = [path.join(fresh, name), path.join(sourceDir, name)];
    const [now, before] = [file, old].map((each) => statSync(each, { throwIfNoEntry: false }));
    if (now?.isFile() !== true || before?.isFile() !== true || now.size !== before.size) continue;
    if (readFileSync(file).equals(readFileSync(old))) utimesSync(file, before.atime, before.mtime);
  }
}

function prepare(): void {
  const pin = readPin();
  const patches = patchFiles();
  const stamp = wantedStamp(pin, patches);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;

  const fresh = `${sourceDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  cloneVerified(pin, fresh);
  for (const patch of patches) git(fresh, "apply", "--whitespace=nowarn", patch);
  cpSync(filesDir, fresh, { recursive: true });
  keepTimes(fresh);
  writeFileSync(path.join(fresh, ".ingle-stamp"), stamp);
  rmSync(sourceDir, { recursive: true, force: true });
  renameSync(fresh, sourceDir);
  console.log(`llama.cpp: ${pin.release} (${pin.commit.slice(0, 10)}), ${patches.length} patches applied`);
}

prepare();
