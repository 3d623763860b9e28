import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { resolveUserPath } from "./home.ts";

it.each([
  ["~", os.homedir()],
  ["~/models", path.join(os.homedir(), "models")],
  ["~/a b/x.gguf", path.join(os.homedir(), "a b", "x.gguf")],
  ["models", path.resolve("/work", "models")],
  ["./~/models", path.resolve("/work", "~/models")],
  ["~name", path.resolve("/work", "~name")],
  ["a/~", path.resolve("/work", "a/~")],
])("%s is the path %s", (text, resolved) => {
  expect(resolveUserPath(text, path.resolve("/work"))).toBe(resolved);
});
