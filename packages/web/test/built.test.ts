// The output of `vite build`: how much a first visit downloads, and that it complies with the page's policy.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const web = path.dirname(import.meta.dirname);
const dist = path.join(web, "dist");

/** Limit for the compressed JavaScript of a first visit: what index.html loads, and the chat. */
const firstPageBytesMax = 120_000;

/** A script in dist/assets and everything that it imports statically. */
function withImports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(path.join(dist, "assets", file), "utf8");
  for (const [, name] of text.matchAll(/\b(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)) {
    if (name !== undefined) withImports(name, seen);
  }
  return seen;
}

function readDist(name: string): string {
  return readFileSync(path.join(dist, name), "utf8");
}

describe("the built page", () => {
  it("loads at most 120 kB of compressed JavaScript for a first chat", () => {
    const html = readDist("index.html");
    const assets = readdirSync(path.join(dist, "assets"));
    const begins = [
      ...[...html.matchAll(/assets\/([\w.-]+\.js)"/g)].map(([, name]) => name ?? ""),
      ...assets.filter((name) => /^chat-page-.*\.js$/.test(name)),
    ];
    const files = new Set(begins.flatMap((name) => [...withImports(name)]));
    const bytes = [...files]
      .map((name) => gzipSync(readFileSync(path.join(dist, "assets", name))).length)
      .reduce((sum, size) => sum + size, 0);
    expect(files.size).toBeGreaterThan(1);
    expect(bytes).toBeLessThanOrEqual(firstPageBytesMax);
  });

  it("has no script or style in its HTML", () => {
    const html = readDist("index.html");
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });

  it("refers to no other host", () => {
    const css = readdirSync(path.join(dist, "assets")).filter((name) => name.endsWith(".css"));
    for (const text of [readDist("index.html"), ...css.map((name) => readDist(`assets/${name}`))]) {
      expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\//);
    }
  });
});

describe("the page's source", () => {
  const src = path.join(web, "src");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name),
  );

  it.each(files)("%s creates no HTML, style attributes or code from text", (name) => {
    const text = readFileSync(path.join(src, name), "utf8");
    expect(text).not.toMatch(/\b(?:innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|srcdoc)\b/);
    expect(text).not.toMatch(/\sstyle=|\bsetAttribute\(\s*["']style/);
    expect(text).not.toMatch(/\beval\(|\bnew Function\(/);
  });
});
