import { defineConfig } from "vitest/config";

/** Tests of a build for a GPU, on its first device (docs/gpu.md). scripts/test-gpu.ts builds it and sets the environment. */
export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.gpu.test.ts"],
    // They share the device, and the faults that tests inject.
    fileParallelism: false,
    // A software device compiles its shaders as it goes, on the processor.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
