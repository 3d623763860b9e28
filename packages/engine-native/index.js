// Finds and loads the addon that the build put here, for this processor. Types: index.d.ts.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { addonFor } from "./levels.js";

const addon = createRequire(import.meta.url)(addonFor(fileURLToPath(new URL("./build", import.meta.url))));

export const {
  buildInfo,
  computeImatrix,
  connectWorker,
  isWorkerLost,
  keepMemoryTight,
  loadModel,
  loseWorker,
  measureModel,
  planQuantization,
  quantizeModel,
  servePeer,
  setLogSink,
  workerDevices,
} = addon;
