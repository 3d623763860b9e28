// Finds and loads the addon that the build put here. Types: index.d.ts.
import { createRequire } from "node:module";

const addon = createRequire(import.meta.url)("./build/Release/ingle.node");

export const {
  buildInfo,
  computeImatrix,
  keepMemoryTight,
  loadModel,
  measureModel,
  planQuantization,
  quantizeModel,
  setLogSink,
} = addon;
