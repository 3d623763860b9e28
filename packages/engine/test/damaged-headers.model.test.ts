// Model files with damaged headers, loaded natively in a child process: each is an EngineError or a model that runs, and none crashes
// the process. packages/gguf tests our own reader with such headers.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { extremeFields, flippedBytes, truncations } from "./damage.ts";
import { limitMs, outcomes } from "./damaged-loads.ts";

/** As small as possible: the model is loaded thousands of times. */
const smallest = {
  tokens: 280,
  embedding: 32,
  feedForward: 32,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  layers: 1,
  chatTemplate: null,
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-damage-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const codes = new Set(["ok", "model_invalid", "model_unsupported", "out_of_memory", "invalid_request"]);

test.each([
  { name: "fields at their extremes", make: extremeFields, refusedMin: 0.7 },
  { name: "bytes turned", make: flippedBytes, refusedMin: 0.3 },
  { name: "files cut off", make: truncations, refusedMin: 1 },
])(
  "$name",
  async ({ make, refusedMin }) => {
    const model = await tinyModel(smallest);
    const damages = make(await readFile(model));
    const results = await outcomes({ whole: model, damages, name: make.name, folder });
    expect(results).toHaveLength(damages.length);
    expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
    const refused = results.filter((result) => result !== "ok").length;
    expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
  },
  limitMs,
);
