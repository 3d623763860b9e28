// The prebuilt package of this platform as users get it: packed, and unpacked where nothing of the checkout is in reach.
// `pnpm test:packages` builds it first.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostPlatform, packageName } from "../platforms.js";
import { engineSourcesId } from "../sources.ts";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = path.join(root, "packages", "engine-native");
const name = packageName(hostPlatform());
const prebuilt = path.join(folder, "prebuilt", path.basename(name));
/** In docs/install.md too. */
const packedMiBMax = 25;
const oldestGlibc = "2.34";

/** `1.10` is later than `1.9`. */
function later(a: string, b: string): string {
  return a.localeCompare(b, "en", { numeric: true }) > 0 ? a : b;
}

describe("the prebuilt package", () => {
  let home: string;
  let scope: string;
  let tarball: string;

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), "ingle-prebuilt-"));
    scope = path.join(home, "node_modules", "@ingle");
    tarball = await install(prebuilt);
    await install(folder);
  });
  afterAll(async () => {
    await rm(home, { recursive: true });
  });

  /** Unpacks what npm would publish, in a folder outside of the checkout. */
  async function install(source: string): Promise<string> {
    const { stdout } = await execute(
      "npm",
      ["pack", "--silent", "--ignore-scripts", "--pack-destination", home],
      {
        cwd: source,
      },
    );
    const file = path.join(home, stdout.trim());
    const target = path.join(scope, path.basename(source));
    await mkdir(target, { recursive: true });
    await execute("tar", ["-xzf", file, "-C", target, "--strip-components=1"]);
    return file;
  }

  it("is made from these sources", async () => {
    const manifest: { ingle: { sources: string } } = JSON.parse(
      await readFile(path.join(prebuilt, "package.json"), "utf8"),
    );
    expect(manifest.ingle.sources, "run `prebuilt` again").toBe(
      engineSourcesId(folder, path.join(root, "vendor", "llama.cpp", "source")),
    );
  });

  it("is found and loaded in a folder without compiler and checkout", async () => {
    const script = `console.log(JSON.stringify((await import("@ingle/engine-native")).buildInfo()))`;
    const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: home,
      env: { PATH: "" },
    });
    expect(JSON.parse(stdout)).toMatchObject({ cpu: "all", devices: [{ name: "CPU" }] });
  });

  it("generates, cancels, embeds and is disposed with a tiny model", async () => {
    const addon = path.join(scope, path.basename(name), "ingle.node");
    const run = path.join(root, "scripts", "sanitized-run.ts");
    const { stdout } = await execute(process.execPath, ["--import", "tsx", run, addon, await tinyModel()], {
      cwd: root,
    });
    expect(stdout).toContain("the run went well");
  });

  it(`is at most ${packedMiBMax} MB`, async () => {
    expect((await stat(tarball)).size).toBeLessThan(packedMiBMax * 1e6);
  });

  it.runIf(hostPlatform().libc === "glibc")(
    `needs no libraries but glibc ${oldestGlibc} and those of its age`,
    async () => {
      let newest = "0";
      for (const file of readdirSync(prebuilt).filter((each) => /\.(so|node)$/.test(each))) {
        const { stdout } = await execute("objdump", ["-Tp", path.join(prebuilt, file)], { maxBuffer: 1e8 });
        for (const [, version = ""] of stdout.matchAll(/\bGLIBC_([0-9.]+)/g)) newest = later(newest, version);
        const needed = [...stdout.matchAll(/NEEDED\s+(\S+)/g)].map(([, library = ""]) => library);
        const allowed = /^(lib(c|m|dl|pthread|gcc_s)\.so\.\d+|ld-linux.*|libggml.*\.so)$/;
        expect(needed.filter((library) => !allowed.test(library))).toEqual([]);
      }
      expect(later(newest, oldestGlibc)).toBe(oldestGlibc);
      expect(await readFile(path.join(root, "docs", "install.md"), "utf8")).toContain(`glibc ${oldestGlibc}`);
    },
  );
});
