import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../base/errors.ts";
import { checkAlias, parseModelSpec } from "./model-spec.ts";

const cwd = path.resolve("/somewhere");

describe("the name of a model", () => {
  test.each([
    ["model.gguf", path.join(cwd, "model.gguf")],
    ["./folder", path.join(cwd, "folder")],
    ["models/tiny.Q4_K_M.gguf", path.join(cwd, "models/tiny.Q4_K_M.gguf")],
    ["a/b/c", path.join(cwd, "a/b/c")],
    ["../LOUD.GGUF", path.resolve(cwd, "../LOUD.GGUF")],
    ["~/models/x.gguf", path.join(os.homedir(), "models/x.gguf")],
  ])("%s is a path", (text, expected) => {
    expect(parseModelSpec(text, cwd)).toEqual({ kind: "file", path: expected });
  });

  test.each([
    ["LiquidAI/LFM2-1.2B-GGUF", "LiquidAI/LFM2-1.2B-GGUF", undefined],
    ["LiquidAI/LFM2-1.2B-GGUF:Q4_K_M", "LiquidAI/LFM2-1.2B-GGUF", "Q4_K_M"],
    ["org/repo:some-file", "org/repo", "some-file"],
    ["org/repo:some-file.gguf", "org/repo", "some-file"],
  ])("%s is on the hub", (text, repo, choice) => {
    expect(parseModelSpec(text, cwd)).toEqual({ kind: "hub", repo, choice });
  });

  test("with npm: is a package and its exact version", () => {
    expect(parseModelSpec("npm:some-model@1.0.0")).toEqual({
      kind: "npm",
      name: "some-model",
      version: "1.0.0",
    });
    expect(parseModelSpec("npm:@me/model@2.0.0-beta.1")).toMatchObject({
      name: "@me/model",
      version: "2.0.0-beta.1",
    });
  });

  test.each([
    "npm:",
    "npm:model",
    "npm:model@^1.0.0",
    "npm:model@latest",
    "npm:../x@1.0.0",
    "",
    "a\0b",
    "x".repeat(5000),
  ])("%j is refused with a reason", (text) => {
    expect(() => parseModelSpec(text)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("is an id or alias otherwise", () => {
    expect(parseModelSpec("tinyllama-1.1b-chat")).toEqual({ kind: "name", name: "tinyllama-1.1b-chat" });
  });

  test("is parsed or refused for any text, and no repository leads out of its folder", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\w./:@-]{0,40}$/)), (text) => {
        try {
          const spec = parseModelSpec(text, cwd);
          if (spec.kind === "hub") expect(path.resolve(cwd, spec.repo).startsWith(cwd + path.sep)).toBe(true);
        } catch (error) {
          expect(EngineError.is(error)).toBe(true);
        }
      }),
    );
  });
});

describe("an alias", () => {
  test("may not be the id of a model", () => {
    expect(() => checkAlias("tiny", ["tiny"])).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test.each(["daily", "my-model.2", "A_b"])("may be %s", (alias) => {
    expect(() => checkAlias(alias, ["other"])).not.toThrow();
  });

  test.each(["", "a/b", "npm:x", "x.gguf", ".x", "a b", "x".repeat(101)])("may not be %j", (alias) => {
    expect(() => checkAlias(alias, [])).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});
