import { defineConfig } from "vitest/config";

/** Tests of the prebuilt engine, which is built first, and of the published packages (docs/testing.md). */
export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.packages.test.ts", "deploy/npm/*.packages.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
