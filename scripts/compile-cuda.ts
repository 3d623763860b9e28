// Compiles the CUDA files that are ours or patched, for one architecture and with warnings as errors. It needs the CUDA toolkit
// with cuBLAS but no GPU: it checks that they compile, not what they compute.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { root } from "./files.ts";
import { step, stop } from "./step.ts";

/** Ampere, the oldest whose instructions all the kernels use. */
const architecture = "80";

const vendor = path.join(root, "vendor", "llama.cpp");
const native = path.join(root, "packages", "engine-native");
const buildDir = path.join(native, "build-cuda-files");
const cuda = "ggml/src/ggml-cuda";

/** `fattn.cu` and so on: apart from them, only upstream's headers are patched, which these files include. */
function touchedFiles(): string[] {
  const ours = readdirSync(path.join(vendor, "files", cuda));
  const patches = path.join(vendor, "patches");
  const patched = readdirSync(patches).flatMap((name) =>
    [...readFileSync(path.join(patches, name), "utf8").matchAll(/^\+\+\+ b\/(\S+)$/gm)]
      .map(([, file = ""]) => file)
      .filter((file) => path.posix.dirname(file) === cuda)
      .map((file) => path.posix.basename(file)),
  );
  return [...new Set([...ours, ...patched])].filter((name) => name.endsWith(".cu")).toSorted();
}

function configure(): void {
  const options = {
    INGLE_LLAMA_CPP_DIR: path.join(vendor, "source"),
    INGLE_GPU: "cuda",
    CMAKE_CUDA_ARCHITECTURES: architecture,
    GGML_FATAL_WARNINGS: "ON",
  };
  const cmakeJs = path.join(native, "node_modules", "cmake-js", "bin", "cmake-js");
  const values = Object.entries(options).map(([name, value]) => `--CD${name}=${value}`);
  const folders = ["--directory", native, "--out", buildDir];
  step(
    "configure, with a CUDA toolkit that has cuBLAS (CUDACXX and CUDAToolkit_ROOT choose one of several)",
    [process.execPath, cmakeJs, "configure", "--generator", "Ninja", ...folders, ...values],
    {},
  );
}

const files = touchedFiles();
if (files.length === 0) stop("No file of CUDA's is ours or patched.");
configure();
for (const name of files) {
  const object = `llama.cpp/${cuda}/CMakeFiles/ggml-cuda.dir/${name}.o`;
  step(name, ["cmake", "--build", buildDir, "--target", object], {});
}
