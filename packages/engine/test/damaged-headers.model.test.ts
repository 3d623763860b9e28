// Model files with damaged headers, loaded natively in a child process: each is an EngineError or a model that runs, and none crashes
// the process. packages/gguf tests our own reader with such headers.
import { readFile } from "node:fs/promises";
import { tinyModel } from "@ingle/fixtures";
import { expect, test } from "vitest";
import { extremeFields, flippedBytes, oneIn, truncations } from "./damage.ts";
import { limitMs, outcomes, smallestLlama } from "./damaged-loads.ts";

const codes = new Set(["ok", "model_invalid", "model_unsupported", "out_of_memory", "invalid_request"]);

test.each([
  { name: "fields at their extremes", make: extremeFields, every: 1, refusedMin: 0.7 },
  { name: "bytes turned", make: flippedBytes, every: 7, refusedMin: 0.3 },
  { name: "files cut off", make: truncations, every: 1, refusedMin: 1 },
])(
  "$name",
  async ({ make, every, refusedMin }) => {
    const model = await tinyModel(smallestLlama);
    const damages = oneIn(every, make(await readFile(model)));
    const results = await outcomes({ whole: model, damages });
    expect(results).toHaveLength(damages.length);
    expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
    const refused = results.filter((result) => result !== "ok").length;
    expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
  },
  limitMs,
);
