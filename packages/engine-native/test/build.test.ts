// build.ts in a checkout of its own, with tools that only record how they are called: when it compiles, and when it does not.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostPlatform, packageName } from "../platforms.js";
import { engineSourcesId } from "../sources.ts";

const native = path.join(import.meta.dirname, "..");
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

// Windows runs no scripts as tools.
describe.runIf(process.platform !== "win32")("the build of a checkout", () => {
  let root: string;
  let folder: string;
  let llama: string;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), "ingle-build-")));
    folder = path.join(root, "engine-native");
    const modules = path.join(folder, "node_modules");
    llama = path.join(modules, "@ingle", "llama.cpp", "source");
    for (const name of [
      "build.ts",
      "find-addon.js",
      "platforms.js",
      "progress.ts",
      "sources.ts",
      "package.json",
    ])
      await cp(path.join(native, name), path.join(folder, name));
    await symlink(
      path.join(native, "node_modules", "cli-progress"),
      await made(path.join(modules, "cli-progress")),
    );
    await put(path.join(folder, "src", "addon.cpp"), "// ours");
    await put(path.join(llama, ".ingle-stamp"), "a release and patches");
    await put(path.join(llama, "..", "package.json"), "{}");
    await put(path.join(modules, "cmake-js", "package.json"), "{}");
    const record = `require("node:fs").appendFileSync(${JSON.stringify(path.join(root, "calls"))}, process.argv[2] + "\\n")`;
    await put(path.join(modules, "cmake-js", "bin", "cmake-js"), record);
    for (const tool of ["cmake", "c++"]) await addTool(tool);
  });
  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  async function made(file: string): Promise<string> {
    await mkdir(path.dirname(file), { recursive: true });
    return file;
  }

  async function put(file: string, text: string): Promise<void> {
    await writeFile(await made(file), text);
  }

  async function addTool(name: string): Promise<void> {
    const file = path.join(root, "bin", name);
    await put(file, "#!/bin/sh\n");
    await chmod(file, 0o755);
  }

  /** Puts the prebuilt package of the sources as they are now where `prebuilt.ts` would, or where npm would install it. */
  async function addPrebuilt(parent: string): Promise<void> {
    const place = path.join(parent, path.basename(packageName(hostPlatform())));
    const { version } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const manifest = { version, ingle: { sources: engineSourcesId(folder, llama) } };
    await put(path.join(place, "package.json"), JSON.stringify(manifest));
    await put(path.join(place, "ingle.node"), "");
  }

  /** The calls of cmake-js. */
  async function build(env: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<string[]> {
    await promisify(execFile)(process.execPath, ["--import", tsx, "build.ts", ...args], {
      cwd: folder,
      env: { PATH: path.join(root, "bin"), ...env },
    });
    const calls = await readFile(path.join(root, "calls"), "utf8").catch(() => "");
    return calls.split("\n").filter((call) => call !== "");
  }
  const compiled = ["configure", "build"];

  it("compiles if there is no prebuilt package", async () => {
    expect(await build()).toEqual(compiled);
  });

  it.each(["prebuilt", path.join("node_modules", "@ingle")])(
    "compiles nothing if the package in %s has the same sources",
    async (parent) => {
      await addPrebuilt(path.join(folder, parent));
      expect(await build()).toEqual([]);
    },
  );

  it.each(["src/addon.cpp", "node_modules/@ingle/llama.cpp/source/.ingle-stamp"])(
    "compiles if %s has changed since",
    async (file) => {
      await addPrebuilt(path.join(folder, "prebuilt"));
      await put(path.join(folder, file), "// changed");
      expect(await build()).toEqual(compiled);
    },
  );

  it("compiles if a file of ours was added since", async () => {
    await addPrebuilt(path.join(folder, "prebuilt"));
    await put(path.join(folder, "src", "more.cpp"), "");
    expect(await build()).toEqual(compiled);
  });

  it.each([{ INGLE_BUILD: "source" }, { INGLE_CPU: "native" }, { INGLE_GPU: "cpu" }])(
    "compiles if %o asks for it",
    async (env) => {
      await addPrebuilt(path.join(folder, "prebuilt"));
      expect(await build(env)).toEqual(compiled);
    },
  );

  it("compiles where a folder is named", async () => {
    await addPrebuilt(path.join(folder, "prebuilt"));
    expect(await build({}, path.join(root, "elsewhere"))).toEqual(compiled);
  });

  it("goes on with a build that has begun", async () => {
    await addPrebuilt(path.join(folder, "prebuilt"));
    await mkdir(path.join(folder, "build"));
    expect(await build()).toEqual(compiled);
  });
});
