// Adapters with damaged headers, loaded in a child process beside their model: each is an EngineError or an adapter that runs, and none
// crashes the process.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyAdapter, tinyControlVector, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extremeFields, flippedBytes, oddShapes, truncations } from "./damage.ts";
import { limitMs, outcomes } from "./damaged-loads.ts";

/** As small as possible: it is loaded thousands of times. */
const model = {
  tokens: 280,
  embedding: 32,
  feedForward: 32,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  layers: 2,
  chatTemplate: null,
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-damage-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const codes = new Set(["ok", "model_invalid", "model_unsupported", "adapter_mismatch", "model_not_found"]);

describe.each([
  ["a LoRA adapter", tinyAdapter],
  ["a control vector", tinyControlVector],
] as const)("%s", (_, make) => {
  it.each([
    { name: "fields at their extremes", damage: extremeFields, refusedMin: 0.5 },
    { name: "bytes turned", damage: flippedBytes, refusedMin: 0.5 },
    { name: "other shapes and types", damage: oddShapes, refusedMin: 1 },
    { name: "files cut off", damage: truncations, refusedMin: 1 },
  ])(
    "$name",
    async ({ damage, refusedMin }) => {
      const whole = await make({ model });
      const damages = damage(await readFile(whole));
      const corpus = { whole, model: await tinyModel(model), damages, name: make.name, folder };
      const results = await outcomes({ ...corpus, kind: "adapter" });
      expect(results).toHaveLength(damages.length);
      expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
      const refused = results.filter((result) => result !== "ok").length;
      expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
    },
    limitMs,
  );
});
