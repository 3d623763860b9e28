import { describe, expect, it } from "vitest";
import { stateKey } from "./state-file.ts";

const llamaCpp = { version: "v0.5.0", commit: "de3ff815", sources: "aa" };
const settings = { kvTypeK: "f16", kvTypeV: "f16", flashAttention: "auto", others: "" } as const;

describe("the key of kept state", () => {
  it("is another one when a patch of llama.cpp or a file of ours has changed, at the same commit", () => {
    const key = stateKey(llamaCpp, "model", settings);
    expect(stateKey({ ...llamaCpp }, "model", settings)).toEqual(key);
    expect(stateKey({ ...llamaCpp, sources: "bb" }, "model", settings)).not.toEqual(key);
  });

  it("is another one for another commit, model or type of the cache", () => {
    const keys = [
      stateKey(llamaCpp, "model", settings),
      stateKey({ ...llamaCpp, commit: "0" }, "model", settings),
      stateKey(llamaCpp, "other", settings),
      stateKey(llamaCpp, "model", { ...settings, kvTypeK: "q8_0" }),
      stateKey(llamaCpp, "model", { ...settings, flashAttention: "off" }),
    ].map((key) => key.toString("hex"));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
