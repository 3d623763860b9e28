// Adapters with damaged headers, loaded in a child process beside their model: each is an EngineError or an adapter that runs, and none
// crashes the process.
import { readFile } from "node:fs/promises";
import { tinyAdapter, tinyControlVector, tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { extremeFields, flippedBytes, oddShapes, truncations } from "./damage.ts";
import { limitMs, outcomes, smallestLlama } from "./damaged-loads.ts";

const model = { ...smallestLlama, layers: 2 };
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
      const results = await outcomes({ whole, model: await tinyModel(model), kind: "adapter", damages });
      expect(results).toHaveLength(damages.length);
      expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
      const refused = results.filter((result) => result !== "ok").length;
      expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
    },
    limitMs,
  );
});
