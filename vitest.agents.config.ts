import { defineConfig } from "vitest/config";

/** Coding agents from npm, which together are more than a gigabyte, with a real server (docs/testing.md). */
export default defineConfig({
  test: {
    include: ["packages/server/test/foreign/**/*.agents.test.ts"],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
