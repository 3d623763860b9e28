import { defineConfig } from "vitest/config";

/** Tests that need root: they create network namespaces and bare Debian systems (docs/testing.md). */
export default defineConfig({
  test: {
    include: ["deploy/**/*.root.test.ts"],
    // Each uses the whole machine: several servers under load, or a system that is installed from packages.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
