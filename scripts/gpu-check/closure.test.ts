import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findClosure, listFiles } from "./closure.ts";

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), "ingle-closure-")));
});
afterEach(() => rm(root, { recursive: true }));

async function write(file: string, text = ""): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

/** A package in pnpm's store, linked to from those that use it. */
async function store(name: string, dependencies: Record<string, string>): Promise<string> {
  const folder = `node_modules/.pnpm/${name}@1/node_modules/${name}`;
  await write(`${folder}/package.json`, JSON.stringify({ name, dependencies }));
  return folder;
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, from)), { recursive: true });
  await symlink(
    path.relative(path.dirname(path.join(root, from)), path.join(root, to)),
    path.join(root, from),
  );
}

it("follows pnpm's links from package to package, also in circles, and keeps the links", async () => {
  const one = await store("one", { two: "1", missing: "1" });
  const two = await store("two", { one: "1" });
  await link("node_modules/one", one);
  await link("node_modules/.pnpm/one@1/node_modules/two", two);
  await link("node_modules/.pnpm/two@1/node_modules/one", one);
  await store("unused", {});
  expect(findClosure(root, ["one"])).toEqual({
    folders: [one, two],
    links: [
      "node_modules/.pnpm/one@1/node_modules/two",
      "node_modules/.pnpm/two@1/node_modules/one",
      "node_modules/one",
    ],
  });
});

it("takes the files that a program may read, of all folders or of some", async () => {
  for (const file of [
    "dist/index.js",
    "dist/index.d.ts",
    "dist/index.js.map",
    "src/a.ts",
    "README.md",
    "package.json",
  ])
    await write(`packages/p/${file}`);
  await write("packages/p/node_modules/q/index.js");
  expect(listFiles(root, "packages/p")).toEqual([
    "packages/p/dist/index.js",
    "packages/p/package.json",
    "packages/p/src/a.ts",
  ]);
  expect(listFiles(root, "packages/p", ["dist", "package.json", "missing"])).toEqual([
    "packages/p/dist/index.js",
    "packages/p/package.json",
  ]);
});

it("takes a registry's package without its sources in TypeScript and its tests", async () => {
  for (const file of ["index.js", "src/index.ts", "test/all.js", "tests/perf/100k", "latest/a.mjs"])
    await write(`node_modules/.pnpm/q@1/node_modules/q/${file}`);
  const folder = "node_modules/.pnpm/q@1/node_modules/q";
  expect(listFiles(root, folder)).toEqual([`${folder}/index.js`, `${folder}/latest/a.mjs`]);
});
