import { configDefaults, defineConfig } from "vitest/config";

const withModels = "**/*.model.test.ts";

export default defineConfig({
  test: {
    // Two cores: tests that decode with a real model would only slow each other down.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "plain",
          include: [
            "packages/*/src/**/*.test.{ts,tsx}",
            "packages/*/test/**/*.test.ts",
            "scripts/**/*.test.ts",
            "bench/src/**/*.test.ts",
            "deploy/**/*.test.ts",
          ],
          // These need root, a GPU, the prebuilt engine or agents' programs, and have configurations and commands of their own.
          exclude: [...configDefaults.exclude, withModels, "**/*.{root,packages,gpu,agents}.test.ts"],
          // One process for many files: starting one and importing its modules takes longer than most tests.
          isolate: false,
        },
      },
      {
        extends: true,
        // Each file has the engine to itself, in a process of its own.
        test: { name: "model", include: [`{packages,deploy}/${withModels}`] },
      },
    ],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Waits take longer than the default second if both cores are busy.
    expect: { poll: { timeout: 15_000 } },
  },
});
