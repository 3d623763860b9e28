// Which addon is loaded: a build, or a prebuilt package.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAddon } from "../find-addon.js";
import { hostPlatform, packageName, platformDependencies, platforms } from "../platforms.js";

const host = { os: "linux", cpu: "x64", libc: "glibc" };

describe("platforms", () => {
  it("have packages named after system, processor, C library and GPU", () => {
    expect(platforms.map((platform) => packageName(platform))).toEqual(
      expect.arrayContaining([
        "@ingle/engine-native-linux-x64",
        "@ingle/engine-native-linux-arm64-musl",
        "@ingle/engine-native-darwin-arm64",
        "@ingle/engine-native-win32-x64-cuda",
      ]),
    );
  });

  it("install by themselves without a GPU, and only on demand with one", () => {
    const { optionalDependencies, peerDependencies, peerDependenciesMeta } = platformDependencies("1.2.3");
    expect(Object.keys(optionalDependencies)).toHaveLength(7);
    expect(optionalDependencies["@ingle/engine-native-linux-x64"]).toBe("1.2.3");
    expect(Object.keys(peerDependencies)).toHaveLength(4);
    expect(peerDependenciesMeta["@ingle/engine-native-linux-x64-cuda"]).toEqual({ optional: true });
  });

  it.runIf(process.platform === "linux" || process.platform === "darwin" || process.platform === "win32")(
    "include this one",
    () => {
      expect(platforms).toContainEqual(hostPlatform());
    },
  );
});

describe("findAddon", () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), "ingle-find-addon-")));
    folder = path.join(root, "node_modules", "@ingle", "engine-native");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "package.json"), `{ "version": "1.0.0" }`);
  });
  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  async function install(suffix: string, version = "1.0.0"): Promise<string> {
    const place = path.join(root, "node_modules", "@ingle", `engine-native-${suffix}`);
    await mkdir(place, { recursive: true });
    await writeFile(path.join(place, "package.json"), `{ "version": "${version}" }`);
    return path.join(place, "ingle.node");
  }

  async function put(...names: string[]): Promise<string> {
    const file = path.join(folder, ...names);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "");
    return file;
  }

  const find = (env: NodeJS.ProcessEnv = {}, platform = host): string =>
    findAddon(folder, { env, host: platform });

  it("prefers a build to what `prebuilt` wrote, and that to an installed package", async () => {
    const installed = await install("linux-x64");
    expect(find()).toBe(installed);
    const prebuilt = await put("prebuilt", "engine-native-linux-x64", "ingle.node");
    expect(find()).toBe(prebuilt);
    const built = await put("build", "Release", "ingle.node");
    expect(find()).toBe(built);
  });

  it("takes the build for the GPU that INGLE_GPU names, and a build for a GPU if there is no other", async () => {
    const vulkan = await put("build-vulkan", "Release", "ingle.node");
    expect(find()).toBe(vulkan);
    expect(find({ INGLE_GPU: "auto" })).toBe(vulkan);
    const usual = await put("build", "Release", "ingle.node");
    expect(find()).toBe(usual);
    expect(find({ INGLE_GPU: "vulkan" })).toBe(vulkan);
    expect(find({ INGLE_GPU: "cpu" })).toBe(usual);
    expect(() => find({ INGLE_GPU: "cuda" })).toThrow("engine-native-linux-x64-cuda");
  });

  it("takes the package of this system, processor and C library", async () => {
    await install("linux-x64");
    const musl = await install("linux-x64-musl");
    const mac = await install("darwin-arm64");
    expect(find({}, { ...host, libc: "musl" })).toBe(musl);
    expect(findAddon(folder, { env: {}, host: { os: "darwin", cpu: "arm64" } })).toBe(mac);
  });

  it("takes an installed GPU package, unless INGLE_GPU says otherwise", async () => {
    const cpu = await install("linux-x64");
    const vulkan = await install("linux-x64-vulkan");
    expect(find()).toBe(vulkan);
    const cuda = await install("linux-x64-cuda");
    expect(find()).toBe(cuda);
    expect(find({ INGLE_GPU: "vulkan" })).toBe(vulkan);
    expect(find({ INGLE_GPU: "cpu" })).toBe(cpu);
  });

  it("names the package that is missing, and how to build", () => {
    expect(() => find({}, { ...host, cpu: "riscv64" })).toThrow(/linux-riscv64@1\.0\.0.* prebuilt`/s);
    expect(() => find({ INGLE_GPU: "cuda" })).toThrow(
      "npm install @ingle/engine-native-linux-x64-cuda@1.0.0",
    );
  });

  it("uses no package if INGLE_BUILD=source asks for a build", async () => {
    await install("linux-x64");
    expect(() => find({ INGLE_BUILD: "source" })).toThrow("nothing was built");
    const built = await put("build", "Release", "ingle.node");
    expect(find({ INGLE_BUILD: "source" })).toBe(built);
  });

  it("says how to build in a checkout", async () => {
    const checkout = path.join(root, "checkout");
    await mkdir(path.join(checkout, "packages", "engine-native"), { recursive: true });
    await writeFile(path.join(checkout, "pnpm-workspace.yaml"), "");
    const place = path.join(checkout, "packages", "engine-native");
    await writeFile(path.join(place, "package.json"), `{ "version": "1.0.0" }`);
    expect(() => findAddon(place, { env: {}, host })).toThrow(`pnpm@12 build\` in ${checkout}`);
    expect(() => findAddon(place, { env: { INGLE_GPU: "cuda" }, host })).toThrow("`INGLE_GPU=cuda npx");
  });

  it("refuses a package of another version", async () => {
    await install("linux-x64", "0.9.0");
    expect(() => find()).toThrow("npm install @ingle/engine-native-linux-x64@1.0.0");
  });
});
