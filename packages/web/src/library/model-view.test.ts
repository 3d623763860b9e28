import type { Job, ManagedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import {
  actionsOf,
  isAlias,
  isMoving,
  matchingModels,
  quantizationChoices,
  sortedModels,
} from "./model-view.ts";

function model(of: Partial<ManagedModel> = {}): ManagedModel {
  return {
    id: "org/repo:Q4_K_M",
    aliases: [],
    status: "available",
    progress: null,
    pinned: false,
    running: 0,
    waiting: 0,
    context_length: 4096,
    quantization: "Q4_K_M",
    format: "gguf",
    architecture: "lfm2",
    capabilities: [],
    size_bytes: 1000,
    memory_bytes: null,
    kv_bytes_per_token: null,
    kv_bits_k: null,
    kv_bits_v: null,
    loaded_at: null,
    last_used_at: null,
    removable: true,
    error: null,
    ...of,
  };
}

const quantizing: Job = {
  id: "1",
  kind: "quantize",
  status: "running",
  model: "org/repo:F16",
  source: null,
  quantization: "Q8_0",
  phase: "quantize",
  bytes: 0,
  total_bytes: 0,
  bytes_per_second: null,
  can_pause: false,
  error: null,
  created_at: 0,
};

describe("the orders of a model", () => {
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
    expect(actionsOf(model(of), [])).toEqual(actions);
  });

  it("leave out what a job is busy with", () => {
    expect(actionsOf(model({ id: "org/repo:F16", quantization: "F16" }), [quantizing])).toEqual([
      "chat",
      "load",
    ]);
  });

  it("wait while it moves", () => {
    expect(isMoving(model({ status: "loading" }))).toBe(true);
    expect(isMoving(model({ status: "loaded" }))).toBe(false);
  });
});

describe("the list", () => {
  it("has what is in memory first, then what was used last, then names", () => {
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
  it("have the sizes that the bits of their weights make", () => {
    const sizes = quantizationChoices(model({ quantization: "F16", size_bytes: 16_000 }));
    expect(sizes).toEqual([
      { level: "Q4_K_M", expectedBytes: 4800 },
      { level: "Q6_K", expectedBytes: 6600 },
      { level: "Q8_0", expectedBytes: 8500 },
    ]);
    const [usual] = quantizationChoices(model({ quantization: "F32", size_bytes: 32_000 }));
    expect(usual?.expectedBytes).toBe(4800);
  });

  it("have none where the model's size is not known", () => {
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
