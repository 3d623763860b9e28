import { EngineError, starterModel, type DefaultModel } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { toRecommendedModel } from "./library-responses.ts";

const starter = { kind: "npm" as const, id: starterModel.id, model: starterModel };

function instead(starterReason: Extract<DefaultModel, { reason: "starter" }>["starterReason"]): DefaultModel {
  return { reason: "starter", lost: [], located: starter, starterReason };
}

describe("the recommended model", () => {
  it("is one of the hub with the bytes of all its files", () => {
    const file = { path: "m.gguf", sizeBytes: 700, sha256: undefined };
    const projector = { path: "mmproj.gguf", sizeBytes: 50, sha256: undefined };
    const group = { stem: "m", quantization: "Q4_K_M", files: [file], mmproj: projector, sizeBytes: 700 };
    const repository = {
      repo: "org/repo",
      commit: "0",
      isGated: false,
      license: "apache-2.0",
      isMlx: false,
      isAdapter: false,
      files: [file],
    };
    const located = { kind: "hub" as const, id: "org/repo:Q4_K_M", found: { repository, group } };
    expect(toRecommendedModel({ reason: "recommended", lost: [], located })).toEqual({
      model: "org/repo:Q4_K_M",
      installed: false,
      size_bytes: 750,
      license: "apache-2.0",
      reason: "largest_that_fits",
      hub: "asked",
    });
  });

  it("is the one that was used last, with nothing to fetch", () => {
    const located = { kind: "file" as const, id: "mine", path: "mine.gguf", isListed: true };
    expect(toRecommendedModel({ reason: "used-last", lost: [], located })).toEqual({
      model: "mine",
      installed: true,
      size_bytes: null,
      license: null,
      reason: "used_last",
      hub: "not_asked",
    });
  });

  it("is the starter model with the bytes of its packages, and says what the hub said", () => {
    const refused = new EngineError("download_failed", "The hub is shut.");
    const responses = [
      toRecommendedModel(instead({ why: "silent", repo: "org/repo", afterMs: 3000 })),
      toRecommendedModel(instead({ why: "offline", repo: undefined })),
      toRecommendedModel(instead({ why: "refused", repo: "org/repo", error: refused })),
      toRecommendedModel(instead({ why: "memory" })),
    ];
    expect(responses.map(({ hub }) => hub)).toEqual(["silent", "offline", "refused", "no_memory"]);
    expect(responses[0]).toMatchObject({
      model: starterModel.id,
      installed: false,
      size_bytes: 158_781_799 + 159_860_852,
      license: "Apache-2.0",
      reason: "starter",
    });
  });
});
