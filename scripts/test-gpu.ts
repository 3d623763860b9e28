// `pnpm test:gpu`: builds the engine for a GPU, Vulkan unless INGLE_GPU names another, beside the usual build, and runs the tests
// named x.gpu.test.ts on its first device. A software device is enough: docs/gpu.md.
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";

import { root } from "./files.ts";
import { step } from "./step.ts";

const gpu = process.env["INGLE_GPU"] ?? "vulkan";
const buildDir = path.join(root, "packages", "engine-native", `build-${gpu}`);
const modules = path.join(root, "node_modules");

/** Lets the tests fill up the device's memory or make the device fail. */
function faultLayer(): Record<string, string> {
  step("layer", ["cmake", "--build", buildDir, "--target", "ingle_vulkan_faults"], {});
  const folder = mkdtempSync("/dev/shm/ingle-gpu-"); // where the process of an engine may read
  process.on("exit", () => rmSync(folder, { recursive: true }));
  return {
    VK_LAYER_PATH: path.join(buildDir, "tests"),
    VK_INSTANCE_LAYERS: "VK_LAYER_INGLE_faults",
    INGLE_VULKAN_FAULTS: folder,
  };
}

step("build", [path.join(modules, ".bin", "turbo"), "run", "build", "--output-logs=new-only"], {
  INGLE_GPU: gpu,
});
step("tests", [process.execPath, path.join(modules, "vitest", "vitest.mjs"), "run", "--project", "gpu"], {
  INGLE_GPU: gpu,
  // Without it, ggml ignores software devices.
  ...(gpu === "vulkan" ? { GGML_VK_VISIBLE_DEVICES: process.env["GGML_VK_VISIBLE_DEVICES"] ?? "0" } : {}),
  ...(gpu === "vulkan" && process.platform === "linux" ? faultLayer() : {}),
});
