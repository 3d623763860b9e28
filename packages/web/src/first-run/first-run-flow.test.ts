import type { RecommendedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";

import { exampleJob as job, exampleModel } from "../../test/examples.ts";
import { firstRunStep, isFirstRun } from "./first-run-flow.ts";

const recommended: RecommendedModel = {
  model: "org/repo:Q4_K_M",
  installed: false,
  size_bytes: 1000,
  license: null,
  reason: "largest_that_fits",
  hub: "asked",
};

const nothing = { models: [], jobs: [], isRequested: false };

describe("the first model", () => {
  it("is offered at first", () => {
    expect(firstRunStep(recommended, nothing)).toEqual({ kind: "offered" });
  });

  it("is downloading from the click on", () => {
    expect(firstRunStep(recommended, { ...nothing, isRequested: true })).toEqual({
      kind: "downloading",
      job: null,
    });
  });

  it.each([
    ["waiting", "downloading"],
    ["running", "downloading"],
    ["done", "downloading"],
    ["paused", "paused"],
    ["failed", "failed"],
    ["cancelled", "offered"],
  ] as const)("with a job that is %s is %s", (status, kind) => {
    expect(firstRunStep(recommended, { ...nothing, jobs: [job({ status })] }).kind).toBe(kind);
  });

  it("is found by its job after a reload", () => {
    const jobs = [job({ id: "other", model: "other" }), job({ id: "mine" })];
    expect(firstRunStep(recommended, { ...nothing, jobs })).toMatchObject({
      kind: "downloading",
      job: { id: "mine" },
    });
  });

  it("is ready as soon as it is installed, whatever its jobs say", () => {
    const state = {
      models: [exampleModel({ id: recommended.model })],
      jobs: [job({ status: "failed" })],
      isRequested: true,
    };
    expect(firstRunStep(recommended, state)).toEqual({ kind: "ready", model: recommended.model });
  });
});

describe("a first run", () => {
  it("lasts until a model can chat", () => {
    const embedder = exampleModel({ id: "e", capabilities: ["embeddings"] });
    expect(isFirstRun([])).toBe(true);
    expect(isFirstRun([embedder])).toBe(true);
    expect(isFirstRun([embedder, exampleModel()])).toBe(false);
  });
});
