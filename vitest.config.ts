import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "packages/*/src/**/*.test.{ts,tsx}",
      "packages/*/test/**/*.test.ts",
      "scripts/**/*.test.ts",
      "bench/src/**/*.test.ts",
      "deploy/**/*.test.ts",
    ],
    // These need root, or the prebuilt engine, and have commands of their own (vitest.root.config.ts, vitest.packages.config.ts).
    exclude: [
      "**/node_modules/**",
      "deploy/**/*.root.test.ts",
      "**/*.packages.test.ts",
      "**/*.gpu.test.ts",
      "**/*.agents.test.ts",
    ],
    // Two cores: tests that decode with a real model would only slow each other down.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Waits take longer than the default second if both cores are busy.
    expect: { poll: { timeout: 15_000 } },
  },
});
