// The examples run as a person starts them, against a server with a tiny model; the page of the client shows nothing else.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realServer, type RealServer } from "./real-server.ts";

const root = path.join(import.meta.dirname, "../../..");
const folder = path.join(root, "examples");
const examples = readdirSync(folder).filter((file) => file.endsWith(".ts"));

describe("the examples", () => {
  let server: RealServer;
  let modelPath: string;
  beforeAll(async () => {
    server = await realServer({ load: { contextLength: 2048, parallel: 2 } });
    modelPath = await tinyModel();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(examples)("%s runs to its end and says something", async (file) => {
    // Those without a server take the path of a model instead.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", path.join(folder, file), modelPath],
      {
        cwd: root,
        env: { ...process.env, INGLE_URL: server.baseUrl.replace(/\/v1$/, ""), INGLE_GPU: "cpu" },
        timeout: 25_000,
      },
    );
    expect(stdout.trim()).not.toBe("");
  });
});

describe("docs/client.md", () => {
  it("shows only code that stands in an example", async () => {
    const page = await readFile(path.join(root, "docs/client.md"), "utf8");
    const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
    const sources = await Promise.all(examples.map((file) => readFile(path.join(folder, file), "utf8")));
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      // Where the page leaves lines out, it says so with an empty line.
      for (const piece of block.trim().split(/\n\s*\n/)) {
        expect({ piece, stands: sources.some((source) => source.includes(piece)) }).toMatchObject({
          stands: true,
        });
      }
    }
  });
});
