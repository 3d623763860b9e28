// Where the `ingle` program of this repository is, for tests that run it as a process of its own.
import { createRequire } from "node:module";
import path from "node:path";

export const ingleProgram = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@ingle/server/package.json")),
  "bin",
  "ingle.js",
);
