// The list of a release's parts names what is in the bundle and in the native engine.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { compiledParts } from "@ingle/llama.cpp/compiled-parts";
import { beforeAll, describe, expect, it } from "vitest";
import { listParts } from "./parts.ts";

const checkout = path.join(import.meta.dirname, "..");
const source = path.join(checkout, "vendor/llama.cpp/source");

describe("the parts of a release", () => {
  let names: Set<string>;
  let sbom: Awaited<ReturnType<typeof listParts>>;
  beforeAll(async () => {
    sbom = await listParts("1.2.3");
    names = new Set(
      sbom.components.map(({ group, name, version }) =>
        [group === undefined ? name : `${group}/${name}`, version].join(" "),
      ),
    );
  });

  it("are those of this version", () => {
    expect(sbom.metadata.component).toMatchObject({ name: "ingle", version: "1.2.3" });
  });

  it("have every package whose code is bundled, with its version", async () => {
    const licenses = await readFile(path.join(checkout, "packages/ingle/dist/LICENSES.md"), "utf8");
    const bundled = [...licenses.matchAll(/^## (\S+ \d\S*)$/gm)].map(([, name = ""]) => name);
    expect(bundled.length).toBeGreaterThan(100);
    expect(bundled.filter((name) => !names.has(name))).toEqual([]);
  });

  it("have llama.cpp at its commit, with our patches, and everything that it contains", async () => {
    const llama = sbom.components.find(({ name }) => name === "llama.cpp");
    const patches = await readdir(path.join(checkout, "vendor/llama.cpp/patches"));
    expect(llama?.version).toMatch(/^v\d\S+ \([0-9a-f]{40}\)$/);
    expect(JSON.stringify(llama?.["pedigree"]).match(/\.patch"/g)).toHaveLength(patches.length);
    for (const { name } of compiledParts()) expect(sbom.components.map((part) => part.name)).toContain(name);
  });
});

describe("the code that is compiled into the engine", () => {
  it("is in the license file: each of llama.cpp's vendored libraries, with its terms", async () => {
    const parts = compiledParts();
    const isCovered = (place: string): boolean =>
      parts.some((part) => part.place === place || part.place.startsWith(`${place}/`));
    // Programs of llama.cpp use it; the engine does not link it.
    const unused = new Set(["vendor/cpp-httplib"]);
    const vendored = await subfolders("vendor");
    const hashes = await subfolders("vendor/hash");
    const places = [...vendored, ...hashes].filter((place) => !unused.has(place));
    expect(places.filter((place) => !isCovered(place))).toEqual([]);
    for (const { text } of parts) expect(text).toMatch(/copyright|public domain/i);
    const isWarranted = /"AS IS"[^]*(?:SOFTWARE\.|DAMAGE\.|unlicense\.org\/>)$/;
    // The rest of YaRN's license is in the same file, as llama.cpp's.
    const whole = parts.filter(({ license, name }) => license !== undefined && name !== "YaRN");
    expect(whole.filter(({ text }) => !isWarranted.test(text)).map(({ name }) => name)).toEqual([]);
  });
});

async function subfolders(place: string): Promise<string[]> {
  const entries = await readdir(path.join(source, place), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${place}/${name}`);
}
