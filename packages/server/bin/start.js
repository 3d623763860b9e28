// Starts a program of this package after checking Node's version and the build. Plain JavaScript without newer syntax, so that an old
// Node can parse it and print what is missing.
import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

const oldestNode = [20, 17];

/** Sets the exit code of this process; rejects only for bugs. */
export async function start(name, nodeVersion = process.versions.node) {
  const main = new URL("../dist/cli/main.js", import.meta.url);
  if (isTooOld(nodeVersion)) {
    fail(`${name} needs Node ${oldestNode.join(".")} or newer; this is Node ${nodeVersion}.`);
  } else if (!existsSync(main)) {
    fail(`${name} is not built yet. Run \`npx --yes pnpm@12 build\` in the checkout first.`);
  } else {
    keepYoungGenerationSmall();
    const { runFromShell } = await import(main.href);
    await runFromShell(name);
  }
}

/**
 * Most allocations of a server are short-lived. V8 lets their space grow to 48 MB under load, although a few are collected as
 * quickly: measured with 8 streams of a tiny model, this lowers the peak from 152 to 121 MB at the same speed. V8 reads the flag each
 * time that space would grow.
 */
function keepYoungGenerationSmall() {
  setFlagsFromString("--semi-space-growth-factor=1");
}

function isTooOld(nodeVersion) {
  const [major, minor] = nodeVersion.split(".").map(Number);
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
