// Finds the addon: the one built in this checkout, or the one in this platform's prebuilt package.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { hostPlatform, packageName } from "./platforms.js";

/** The GPUs that have builds and prebuilt packages of their own, in search order. */
const gpus = ["cuda", "vulkan"];

/**
 * The folder of a checkout's build for what INGLE_GPU asks for: `build-cuda`, `build-vulkan`, otherwise `build`.
 *
 * @param {string} folder of @ingle/engine-native
 * @param {string | undefined} gpu
 */
export function buildFolder(folder, gpu) {
  return path.join(folder, gpus.includes(gpu) ? `build-${gpu}` : "build");
}

/**
 * The addon's path, in this order:
 *
 * 1. `Release/ingle.node` in `build` or, if INGLE_GPU asks for it or there is no other, in `build-cuda` or `build-vulkan` in
 *    `folder`: the builds of a checkout.
 * 2. `prebuilt/<package>/ingle.node` in `folder`: what `prebuilt.ts` wrote. build.ts keeps it only if it was made from the same
 * sources.
 * 3. the installed package of this platform, with a GPU if such a package is installed.
 *
 * `INGLE_GPU` names the GPU, or `cpu` for none; with `INGLE_BUILD=source` only a build counts. Throws an error that says what
 * to do.
 *
 * @param {string} folder of @ingle/engine-native
 * @param {{ env?: NodeJS.ProcessEnv, host?: import("./platforms.d.ts").Platform }} [machine]
 */
export function findAddon(folder, { env = process.env, host } = {}) {
  const asked = env["INGLE_GPU"] ?? "auto";
  const built = builtAddon(folder, asked);
  if (built !== undefined) return built;
  const names = env["INGLE_BUILD"] === "source" ? [] : candidates(host ?? hostPlatform(), asked);
  const { version } = readManifest(path.join(folder, "package.json"));
  for (const name of names) {
    const found = prebuiltAddon(folder, name) ?? installedAddon(folder, name, version);
    if (found !== undefined) return found;
  }
  throw new Error(whatToDo(folder, names, { version, asked }));
}

function builtAddon(folder, asked) {
  const wanted = asked === "auto" ? [undefined, ...gpus] : [asked];
  return wanted
    .map((gpu) => path.join(buildFolder(folder, gpu), "Release", "ingle.node"))
    .find((file) => existsSync(file));
}

function whatToDo(folder, names, { version, asked }) {
  const checkout = path.resolve(folder, "..", "..");
  if (existsSync(path.join(checkout, "pnpm-workspace.yaml"))) {
    const variable = gpus.includes(asked) ? `INGLE_GPU=${asked} ` : "";
    return `The engine was not built yet. Run \`${variable}npx --yes pnpm@12 build\` in ${checkout}.`;
  }
  const build =
    "To build the engine, run `npx --yes pnpm@12 --filter @ingle/engine-native prebuilt` in a checkout of Ingle, and install the " +
    "folder that it prints with npm.";
  if (names.length === 0) return `INGLE_BUILD=source is set, and nothing was built. ${build}`;
  return (
    `No engine is installed for this platform: ${names.join(" or ")} was not found. ` +
    "If the platform has such a package, it was left out by --omit=optional, or by a lockfile or a node_modules folder from another " +
    `machine: npm install ${names.at(-1)}@${version}. ${build}`
  );
}

/** The packages that this machine can use, the preferred first. */
function candidates(host, gpu) {
  const cpu = packageName(host);
  if (gpu === "auto") return [...gpus.map((each) => packageName({ ...host, gpu: each })), cpu];
  return gpus.includes(gpu) ? [packageName({ ...host, gpu })] : [cpu];
}

function prebuiltAddon(folder, name) {
  const file = path.join(folder, "prebuilt", path.basename(name), "ingle.node");
  return existsSync(file) ? file : undefined;
}

function installedAddon(folder, name, version) {
  let manifest;
  try {
    manifest = createRequire(path.join(folder, "package.json")).resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
  const installed = readManifest(manifest).version;
  if (installed === version) return path.join(path.dirname(manifest), "ingle.node");
  throw new Error(
    `${name} has version ${installed}, but @ingle/engine-native has ${version}. Install the same one: npm install ${name}@${version}.`,
  );
}

/** @returns {{ version: string }} */
function readManifest(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
