// Loads the addon. Types: index.d.ts.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { findAddon } from "./find-addon.js";

const addon = createRequire(import.meta.url)(findAddon(fileURLToPath(new URL(".", import.meta.url))));

export const {
  buildInfo,
  computeImatrix,
  confineProcess,
  endWhenDeviceIsLost,
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
