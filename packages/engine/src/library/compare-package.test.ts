// Installed packages beside a registry's: equal, changed, and with a registry that cannot be trusted.
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakePackage, FakeRegistry } from "../../test/harness/fake-registry.ts";
import { comparePackage, type PackageDifferences } from "./compare-package.ts";

const published = await fakePackage("@fake/tool", Buffer.from("what it does"), "package/dist/tool.js");
const manifest = JSON.stringify({ name: "@fake/tool", version: "1.0.0" });

let folder: string;
let registry: FakeRegistry;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-compare-"));
  registry = await FakeRegistry.start(published);
  await write("package.json", manifest);
  await write("dist/tool.js", "what it does");
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function write(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
}

async function compare(version = "1.0.0"): Promise<PackageDifferences> {
  const none = path.join(folder, "..", "none");
  const env = {
    HOME: folder,
    npm_config_globalconfig: none,
    npm_config_registry: registry.url,
    npm_config_noproxy: "127.0.0.1",
  };
  return await comparePackage({ name: "@fake/tool", version, folder }, { env, cwd: folder });
}

describe("comparing an installed package", () => {
  it("finds no difference in what was published, whatever it depends on", async () => {
    await write("node_modules/other/index.js", "");
    expect(await compare()).toEqual({ files: 2, changed: [], missing: [], added: [] });
  });

  it("names the files that were changed, removed and added", async () => {
    await write("dist/tool.js", "what it does!");
    await write("dist/b.js", "");
    await write("a.js", "");
    await rm(path.join(folder, "package.json"));
    expect(await compare()).toEqual({
      files: 2,
      changed: ["dist/tool.js"],
      missing: ["package.json"],
      added: ["a.js", "dist/b.js"],
    });
  });

  it("fails if the tarball does not have the registry's checksum, or has none", async () => {
    registry.announcedIntegrity = `sha512-${Buffer.alloc(64).toString("base64")}`;
    await expect(compare()).rejects.toMatchObject({ code: "integrity_failed" });
    registry.announcedIntegrity = "sha1-AAAA";
    await expect(compare()).rejects.toMatchObject({ code: "integrity_failed" });
  });

  it("fails for a version that the registry does not have", async () => {
    await expect(compare("2.0.0")).rejects.toMatchObject({ code: "model_not_found" });
  });
});
