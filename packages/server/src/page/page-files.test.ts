import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { pageIn, type PageFile } from "./page-files.ts";

let folder: string;
beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), "ingle-page-")), "dist");
  await mkdir(path.join(folder, "assets"), { recursive: true });
});
afterEach(() => rm(path.dirname(folder), { recursive: true, force: true }));

const write = (name: string, content: string | Buffer): Promise<void> =>
  writeFile(path.join(folder, name), content);
async function files(): Promise<ReadonlyMap<string, PageFile>> {
  const page = await pageIn(folder);
  return "files" in page ? page.files : new Map();
}

it("lists only what was built, with media types", async () => {
  await write("index.html", "<p>");
  await write("icon.svg", "<svg/>");
  await write("assets/index-abc.js", "1");
  await write("assets/index-abc.js.br", brotliCompressSync("1"));
  await write("assets/index-abc.js.gz", gzipSync("1"));
  await write("assets/index-abc.js.map", "{}");
  await write("assets/.hidden.js", "1");
  await write("assets/a name.js", "1");
  await write("notes", "1");
  await writeFile(path.join(folder, "../secret.js"), "secret");
  await symlink(path.join(folder, "../secret.js"), path.join(folder, "assets/linked.js"));
  const listed = [...(await files()).values()].map(
    ({ path: at, type, isHashed }) => `${at} ${type} ${isHashed}`,
  );
  expect(listed.toSorted()).toEqual([
    "/ text/html; charset=utf-8 false",
    "/assets/index-abc.js text/javascript; charset=utf-8 true",
    "/icon.svg image/svg+xml; charset=utf-8 false",
  ]);
});

it("returns the best encoding that the client accepts and the build made, each with its own etag", async () => {
  const text = "a".repeat(5_000);
  await write("index.html", "<p>");
  await write("assets/a.js", text);
  await write("assets/a.js.br", "brotli");
  await write("assets/a.js.gz", "gzip");
  const file = (await files()).get("/assets/a.js");
  const given = async (...accepted: ("br" | "gzip")[]) => await file?.read(new Set(accepted));
  const responses = [await given("gzip", "br"), await given("gzip"), await given()];
  expect(responses.map((response) => [response?.encoding, response?.bytes.toString()])).toEqual([
    ["br", "brotli"],
    ["gzip", "gzip"],
    ["identity", text],
  ]);
  expect(new Set(responses.map((response) => response?.etag)).size).toBe(3);
  expect(await given("br")).toBe(responses[0]); // read once
});

it("compresses text that the build did not, and leaves small and compressed files as they are", async () => {
  const text = "b".repeat(5_000);
  await write("index.html", text);
  await write("small.svg", "<svg/>");
  await write("picture.png", Buffer.alloc(5_000));
  const listed = await files();
  const page = await listed.get("/")?.read(new Set(["gzip", "br"]));
  expect([page?.encoding, gunzipSync(page?.bytes ?? "").toString()]).toEqual(["gzip", text]);
  for (const name of ["/small.svg", "/picture.png"])
    expect((await listed.get(name)?.read(new Set(["gzip", "br"])))?.encoding).toBe("identity");
});

it.each([
  ["a folder without a page", "."],
  ["no folder", "nowhere"],
])("reports that the page is not built for %s", async (_what, name) => {
  const page = await pageIn(path.join(folder, name));
  expect("problem" in page ? page.problem : "").toMatch(/is not built.*`npx --yes pnpm@12 build`/);
});
