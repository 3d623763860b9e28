import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";
import { installedPackages } from "./verify-command.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "ingle-verify-"));
});
afterEach(() => rm(root, { recursive: true }));

async function install(name: string, manifest: object = {}): Promise<string> {
  const folder = path.join(root, "node_modules", ...name.split("/"));
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, "package.json"),
    JSON.stringify({ name, version: "0.1.0", exports: { "./package.json": "./package.json" }, ...manifest }),
  );
  return folder;
}

describe("ingle doctor --verify", () => {
  it("compares the package and those of ours below it that are installed, each once", async () => {
    const folder = await install("ingle", {
      dependencies: { "@ingle/engine-native": "0.1.0", "@ingle/web": "0.1.0", sharp: "0.35.5" },
    });
    await install("@ingle/web");
    await install("sharp");
    await install("@ingle/engine-native", {
      optionalDependencies: { "@ingle/engine-native-a": "0.1.0", "@ingle/engine-native-b": "0.1.0" },
    });
    await install("@ingle/engine-native-b");
    const found = installedPackages(folder).map(({ name }) => name);
    expect(found).toEqual(["ingle", "@ingle/engine-native", "@ingle/engine-native-b", "@ingle/web"]);
  });

  it("says in a clone that there is nothing to compare with", async () => {
    const { context, err } = testWorld({ engine: scriptedEngine() });
    expect(await main("ingle", ["doctor", "--verify"], context)).toBe(1);
    expect(err()).toContain("is a clone of the repository");
  });
});
