import { defineConfig } from "vitest/config";

/** Tests that need root: they make network namespaces and bare Debian systems (docs/testing.md). */
export default defineConfig({
  test: {
    include: ["deploy/**/*.root.test.ts"],
    // Each takes the whole machine: several servers under load, or a system that is installed from its packages.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
