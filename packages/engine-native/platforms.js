// The platforms that have a prebuilt engine, and the package of each.
//
// `pnpm --filter @ingle/engine-native prebuilt` writes the package of the machine it runs on, ready for `npm pack`:
//
//   packages/engine-native/prebuilt/engine-native-<platform>-<arch>[-musl][-<gpu>]/
//     package.json, README.md, LICENSE
//     ingle.node                        the addon, which find-addon.js finds
//     libggml-base.so, libggml.so       what the addon is linked to (.dylib on macOS, ggml-base.dll on Windows)
//     libggml-cpu-<processor>.so        the processor code, one file per kind of processor; the best one is loaded
//     libggml-<gpu>.so                  GPU packages and macOS: the GPU code
//
// A checkout does not depend on these packages, because it builds the engine itself. platformDependencies() returns what the
// published manifest of @ingle/engine-native has in addition.

/** @typedef {import("./platforms.d.ts").Platform} Platform */

/** @type {readonly Platform[]} */
export const platforms = [
  { os: "linux", cpu: "x64", libc: "glibc" },
  { os: "linux", cpu: "arm64", libc: "glibc" },
  { os: "linux", cpu: "x64", libc: "musl" },
  { os: "linux", cpu: "arm64", libc: "musl" },
  { os: "darwin", cpu: "arm64" },
  { os: "darwin", cpu: "x64" },
  { os: "win32", cpu: "x64" },
  { os: "linux", cpu: "x64", libc: "glibc", gpu: "cuda" },
  { os: "linux", cpu: "x64", libc: "glibc", gpu: "vulkan" },
  { os: "win32", cpu: "x64", gpu: "cuda" },
  { os: "win32", cpu: "x64", gpu: "vulkan" },
];

/** @param {Platform} platform */
export function packageName({ os, cpu, libc, gpu }) {
  return [
    "@ingle/engine-native",
    os,
    cpu,
    ...(libc === "musl" ? [libc] : []),
    ...(gpu === undefined ? [] : [gpu]),
  ].join("-");
}

/**
 * The fields that the published manifest of @ingle/engine-native has in addition to the checkout's. Package managers install the
 * one optional dependency whose `os`, `cpu` and `libc` are the machine's. GPU packages are optional peers: installed only if a
 * user asks for one, and then found in every layout of node_modules.
 *
 * @param {string} version
 */
export function platformDependencies(version) {
  const names = (/** @type {boolean} */ hasGpu) =>
    platforms.filter(({ gpu }) => (gpu !== undefined) === hasGpu).map((platform) => packageName(platform));
  return {
    optionalDependencies: Object.fromEntries(names(false).map((name) => [name, version])),
    peerDependencies: Object.fromEntries(names(true).map((name) => [name, version])),
    peerDependenciesMeta: Object.fromEntries(names(true).map((name) => [name, { optional: true }])),
  };
}

/** The fields that all packages share. */
const sharedFields = [
  "version",
  "license",
  "author",
  "homepage",
  "repository",
  "bugs",
  "keywords",
  "engines",
];

/**
 * The manifest of a platform's package. `own` is that of @ingle/engine-native.
 *
 * @param {Platform} platform
 * @param {Readonly<Record<string, unknown>>} own
 */
export function platformManifest(platform, own) {
  const { os, cpu, libc } = platform;
  return {
    name: packageName(platform),
    ...Object.fromEntries(sharedFields.filter((field) => field in own).map((field) => [field, own[field]])),
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    type: "commonjs",
    exports: { "./ingle.node": "./ingle.node", "./package.json": "./package.json" },
    // Libraries cannot be loaded from inside Yarn's archives.
    preferUnplugged: true,
  };
}

/** This machine, without a GPU. */
export function hostPlatform() {
  const { platform: os, arch: cpu } = process;
  if (os !== "linux") return { os, cpu };
  // Otherwise, a report looks up the names of all network connections.
  process.report.excludeNetwork = true;
  const { header } = process.report.getReport();
  return { os, cpu, libc: "glibcVersionRuntime" in header ? "glibc" : "musl" };
}
