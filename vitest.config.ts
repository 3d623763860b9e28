import { configDefaults, defineConfig } from "vitest/config";
import type { TestUserConfig } from "vitest/node";

const withModels = "**/*.model.test.ts";

/** Of the two projects that `pnpm test` runs. */
const limits = {
  // Two cores: tests that decode with a real model would only slow each other down.
  maxWorkers: 2,
  // Only what hangs reaches these limits: on a slow machine whose cores are busy, a test of the page takes most of a minute.
  testTimeout: 90_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 45_000 } },
  // What is built is loaded as it is: to transform it again takes half of what a file's imports take.
  server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
  // Without it, tests that keep computed state would create a secret in the user's config folder.
  env: { INGLE_STATE_KEY: "the secret of state files in tests" },
};

// docs/testing.md describes the projects; `--project NAME` runs one of the others.
const test: TestUserConfig = {
  project: ["plain", "model"],
  projects: [
    {
      test: {
        ...limits,
        name: "plain",
        include: [
          "packages/*/src/**/*.test.{ts,tsx}",
          "packages/*/test/**/*.test.ts",
          "scripts/**/*.test.ts",
          "bench/src/**/*.test.ts",
          "deploy/**/*.test.ts",
          "release/**/*.test.ts",
        ],
        exclude: [
          ...configDefaults.exclude,
          withModels,
          "**/*.{root,image,packages,gpu,agents,soak}.test.ts",
        ],
        // One process for many files: starting one and importing its modules takes longer than most tests.
        isolate: false,
      },
    },
    {
      // Each file has the engine to itself, in a process of its own.
      test: { ...limits, name: "model", include: [`{packages,deploy}/${withModels}`] },
    },
    {
      // These create network namespaces.
      test: {
        name: "root",
        include: ["deploy/**/*.root.test.ts"],
        // Each uses the whole machine: several servers under load.
        fileParallelism: false,
        testTimeout: 300_000,
        hookTimeout: 600_000,
        expect: { poll: { timeout: 30_000 } },
      },
    },
    {
      // The container image, which is built first: kernels for 14 kinds of processors.
      test: {
        name: "image",
        include: ["deploy/**/*.image.test.ts"],
        testTimeout: 300_000,
        hookTimeout: 3_600_000,
        expect: { poll: { timeout: 30_000 } },
      },
    },
    {
      // The prebuilt engine, which is built first, and the published packages.
      test: {
        name: "packages",
        include: ["packages/*/test/**/*.packages.test.ts", "release/*.packages.test.ts"],
        testTimeout: 300_000,
        hookTimeout: 600_000,
      },
    },
    {
      // Coding agents from npm, which together are more than a gigabyte, with a real server.
      test: {
        name: "agents",
        include: ["packages/server/test/foreign/**/*.agents.test.ts"],
        fileParallelism: false,
        testTimeout: 900_000,
        hookTimeout: 120_000,
      },
    },
    {
      // Very many requests, for minutes.
      test: {
        name: "soak",
        include: ["packages/*/test/**/*.soak.test.ts"],
        fileParallelism: false,
        // INGLE_SOAK_MINUTES may be hours.
        testTimeout: 24 * 3_600_000,
        hookTimeout: 120_000,
        expect: { poll: { timeout: 60_000 } },
      },
    },
    {
      // A build for a GPU, on its first device. scripts/test-gpu.ts builds it and sets the environment.
      test: {
        name: "gpu",
        include: ["packages/*/test/**/*.gpu.test.ts"],
        // They share the device, and the faults that tests inject.
        fileParallelism: false,
        // A software device compiles its shaders as it goes, on the processor.
        testTimeout: 300_000,
        hookTimeout: 300_000,
      },
    },
  ],
};

export default defineConfig({ test });
