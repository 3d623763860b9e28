import type { ManagedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";

import { exampleJob, exampleModel as model } from "../../test/examples.ts";
import {
  modelActions,
  isAlias,
  isLoadingOrUnloading,
  matchingModels,
  quantizationChoices,
  sortedModels,
} from "./model-view.ts";

describe("the actions of a model", () => {
  it.each<[Partial<ManagedModel>, string[]]>([
    [{}, ["chat", "load", "remove"]],
    [{ status: "failed" }, ["load", "remove"]],
    [{ removable: false }, ["chat", "load"]],
    [{ status: "loaded" }, ["chat", "unload", "pin"]],
    [{ status: "loaded", pinned: true }, ["chat", "unload", "unpin"]],
    [{ capabilities: ["embeddings"] }, ["load", "remove"]],
    [{ status: "loading" }, []],
    [{ status: "draining" }, []],
    [{ quantization: "F16" }, ["chat", "load", "quantize", "remove"]],
    [{ quantization: "bf16", status: "loaded" }, ["chat", "unload", "pin", "quantize"]],
  ])("that is %j are %j", (of, actions) => {
    expect(modelActions(model(of), [])).toEqual(actions);
  });

  const quantizing = exampleJob({ kind: "quantize", model: "org/repo:F16", can_pause: false });

  it("exclude those that a running job rules out", () => {
    expect(modelActions(model({ id: "org/repo:F16", quantization: "F16" }), [quantizing])).toEqual([
      "chat",
      "load",
    ]);
  });

  it("know whether it is being loaded or unloaded", () => {
    expect(isLoadingOrUnloading(model({ status: "loading" }))).toBe(true);
    expect(isLoadingOrUnloading(model({ status: "loaded" }))).toBe(false);
  });
});

describe("the list", () => {
  it("has loaded models first, then by last use, then by name", () => {
    const models = [
      model({ id: "b" }),
      model({ id: "a" }),
      model({ id: "used", last_used_at: 5 }),
      model({ id: "loaded", status: "loaded" }),
    ];
    expect(sortedModels(models).map(({ id }) => id)).toEqual(["loaded", "used", "a", "b"]);
  });

  it("is filtered by ids and aliases", () => {
    const models = [model({ id: "Org/One" }), model({ id: "two", aliases: ["daily"] })];
    expect(matchingModels(models, " one").map(({ id }) => id)).toEqual(["Org/One"]);
    expect(matchingModels(models, "DAIL").map(({ id }) => id)).toEqual(["two"]);
    expect(matchingModels(models, "")).toHaveLength(2);
  });
});

describe("quantizations", () => {
  it("have sizes by their bits per weight", () => {
    const sizes = quantizationChoices(model({ quantization: "F16", size_bytes: 16_000 }));
    expect(sizes).toEqual([
      { level: "Q4_K_M", expectedBytes: 4800 },
      { level: "Q6_K", expectedBytes: 6600 },
      { level: "Q8_0", expectedBytes: 8500 },
    ]);
    const [usual] = quantizationChoices(model({ quantization: "F32", size_bytes: 32_000 }));
    expect(usual?.expectedBytes).toBe(4800);
  });

  it("have no size if the model's size is unknown", () => {
    expect(quantizationChoices(model({ size_bytes: null }))[0]?.expectedBytes).toBeNull();
  });
});

describe("an alias", () => {
  it.each([
    ["daily", true],
    ["a.b_c-1", true],
    ["", false],
    ["two words", false],
    ["a/b", false],
    ["x".repeat(101), false],
  ])("%s: %s", (text, good) => {
    expect(isAlias(text)).toBe(good);
  });
});
