// The path of this repository's `ingle` program, for tests that run it as a child process.
import { createRequire } from "node:module";
import path from "node:path";

export const ingleProgram = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@ingle/server/package.json")),
  "bin",
  "ingle.js",
);
