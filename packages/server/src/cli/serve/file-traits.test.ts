import type { ModelTraits } from "@ingle/engine";
import { expect, it } from "vitest";
import { gate } from "../../../test/harness/scripted-models.ts";
import { FileTraits } from "./file-traits.ts";

const traits: ModelTraits = {
  architecture: "a",
  knowsTools: true,
  knowsThinking: false,
  isEmbedder: false,
  sampling: {},
};

it("returns the files that could be read, and forgets those no longer requested", async () => {
  const files = new FileTraits(async (path) => (path === "/gone" ? undefined : traits));
  expect([...(await files.of(["/a", "/gone", "/b"])).keys()]).toEqual(["/a", "/b"]);
  expect([...(await files.of(["/b"])).keys()]).toEqual(["/b"]);
});

it("reads the first files of a library that was empty", async () => {
  const files = new FileTraits(async () => traits);
  expect((await files.of([])).size).toBe(0);
  expect((await files.of(["/a"])).size).toBe(1);
});

it("does not wait for a slow disk, and reads it once", async () => {
  const slow = gate();
  const asked: string[] = [];
  const files = new FileTraits(async (path) => {
    asked.push(path);
    if (path === "/slow") await slow.closed;
    return traits;
  });
  const paths = ["/quick", "/slow"];
  const [first, second] = await Promise.all([files.of(paths), files.of(paths)]);
  expect([[...first.keys()], [...second.keys()]]).toEqual([["/quick"], ["/quick"]]);
  expect(asked).toEqual(paths);
  slow.open();
  expect((await files.of(paths)).size).toBe(2);
});

it("throws unexpected errors to the caller", async () => {
  const files = new FileTraits(async () => {
    throw new Error("a mistake");
  });
  await expect(files.of(["/a"])).rejects.toThrow("a mistake");
});
