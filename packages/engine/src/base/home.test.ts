import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { libraryPaths } from "./home.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("INGLE_HOME contains the models and the downloads", () => {
  const { home, modelsDir, downloadsDir } = libraryPaths({ INGLE_HOME: path.resolve("/tmp/ingle-home") });
  expect(home).toBe(path.resolve("/tmp/ingle-home"));
  expect(modelsDir).toBe(path.join(home, "models"));
  expect(downloadsDir).toBe(path.join(home, "downloads"));
});

test("a relative INGLE_HOME is made absolute", () => {
  expect(libraryPaths({ INGLE_HOME: "models-here" }).home).toBe(path.resolve("models-here"));
});

test.each([{}, { INGLE_HOME: "" }])("without INGLE_HOME the user's data folder is used: %o", (env) => {
  vi.stubEnv("XDG_DATA_HOME", path.resolve("/tmp/data"));
  const { home } = libraryPaths(env);
  expect(home).toContain("ingle");
  if (process.platform === "linux") expect(home).toBe("/tmp/data/ingle");
});
