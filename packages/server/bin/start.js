// Starts a program of this package once Node and the build are fit for it. Plain JavaScript without newer syntax, so
// that an old Node reads far enough to say what it lacks. Used by the two programs beside it.
import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

const oldestNode = [20, 17];

/** Sets the exit code of this process; never rejects for a reason that a person can mend. */
export async function start(name, nodeVersion = process.versions.node) {
  const main = new URL("../dist/cli/main.js", import.meta.url);
  if (isTooOld(nodeVersion)) {
    giveUp(`${name} needs Node ${oldestNode.join(".")} or newer; this is Node ${nodeVersion}.`);
  } else if (!existsSync(main)) {
    giveUp(`${name} is not built yet. Run \`npx --yes pnpm@12 build\` in the checkout first.`);
  } else {
    keepYoungGenerationSmall();
    const { runFromShell } = await import(main.href);
    await runFromShell(name);
  }
}

/**
 * Little of what a server allocates lives long. V8 lets the space for it grow to 48 MB under load, where a few are swept
 * as quickly: measured with 8 streams of a tiny model, the peak falls from 152 to 121 MB at the same speed. V8 reads the
 * flag each time that space would grow.
 */
function keepYoungGenerationSmall() {
  setFlagsFromString("--semi-space-growth-factor=1");
}

function isTooOld(nodeVersion) {
  const [major, minor] = nodeVersion.split(".").map(Number);
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
}

function giveUp(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
