import type { Job, ManagedModel, RecommendedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";

import { firstRunStep, isFirstRun } from "./first-run-flow.ts";

const recommended: RecommendedModel = {
  model: "org/repo:Q4_K_M",
  installed: false,
  size_bytes: 1000,
  license: null,
  reason: "largest_that_fits",
  hub: "asked",
};

function job(of: Partial<Job>): Job {
  return {
    id: "1",
    kind: "pull",
    status: "running",
    model: recommended.model,
    source: null,
    quantization: null,
    phase: "download",
    bytes: 1,
    total_bytes: 10,
    bytes_per_second: 1,
    can_pause: true,
    error: null,
    created_at: 0,
    ...of,
  };
}

function model(id: string, capabilities: ManagedModel["capabilities"] = []): ManagedModel {
  return {
    id,
    aliases: [],
    status: "available",
    progress: null,
    pinned: false,
    running: 0,
    waiting: 0,
    context_length: null,
    quantization: null,
    format: null,
    architecture: null,
    capabilities,
    size_bytes: null,
    memory_bytes: null,
    kv_bytes_per_token: null,
    kv_bits_k: null,
    kv_bits_v: null,
    loaded_at: null,
    last_used_at: null,
    removable: true,
    error: null,
  };
}

const nothing = { models: [], jobs: [], isOrdered: false };

describe("the first model", () => {
  it("is offered while nothing was done", () => {
    expect(firstRunStep(recommended, nothing)).toEqual({ kind: "offered" });
  });

  it("is being fetched from the click on", () => {
    expect(firstRunStep(recommended, { ...nothing, isOrdered: true })).toEqual({
      kind: "fetching",
      job: null,
    });
  });

  it.each([
    ["waiting", "fetching"],
    ["running", "fetching"],
    ["done", "fetching"],
    ["paused", "paused"],
    ["failed", "failed"],
    ["cancelled", "offered"],
  ] as const)("with a job that is %s is %s", (status, kind) => {
    expect(firstRunStep(recommended, { ...nothing, jobs: [job({ status })] }).kind).toBe(kind);
  });

  it("is followed after the page was loaded again, by its job", () => {
    const jobs = [job({ id: "other", model: "other" }), job({ id: "mine" })];
    expect(firstRunStep(recommended, { ...nothing, jobs })).toMatchObject({
      kind: "fetching",
      job: { id: "mine" },
    });
  });

  it("is ready as soon as it is here, whatever its jobs say", () => {
    const state = { models: [model(recommended.model)], jobs: [job({ status: "failed" })], isOrdered: true };
    expect(firstRunStep(recommended, state)).toEqual({ kind: "ready", model: recommended.model });
  });
});

describe("a first run", () => {
  it("is one until a model can answer", () => {
    expect(isFirstRun([])).toBe(true);
    expect(isFirstRun([model("e", ["embeddings"])])).toBe(true);
    expect(isFirstRun([model("e", ["embeddings"]), model("m")])).toBe(false);
  });
});
