import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { unsteerableArchitectures } from "./control-vector.ts";

const sources = path.join(import.meta.dirname, "../../../../../vendor/llama.cpp/source/src/models");
/** They compute vectors or drafts, or decode sound. */
const withoutText = new Set([
  "bert",
  "dflash",
  "eagle3",
  "eurobert",
  "gemma4-assistant",
  "modern-bert",
  "neo-bert",
  "wavtokenizer-dec",
]);

it("control vectors are refused for every architecture whose graph of llama.cpp would ignore them", async () => {
  const ignoring: string[] = [];
  for (const name of (await readdir(sources)).filter((each) => each.endsWith(".cpp"))) {
    const source = await readFile(path.join(sources, name), "utf8");
    const hasGraph = /::graph(?:<.*>)?::graph\(/.test(source);
    if (hasGraph && !source.includes("build_cvec")) ignoring.push(name.slice(0, -".cpp".length));
  }
  const generating = ignoring.filter((name) => !withoutText.has(name));
  expect(generating.map((name) => name.replace(/^hy-v4$/, "hy_v4"))).toEqual([...unsteerableArchitectures]);
});
