import { describe, expect, it } from "vitest";
import { stateKey } from "./state-file.ts";

const llamaCpp = { version: "v0.5.0", commit: "de3ff815", sources: "aa" };
const secret = Buffer.alloc(32, 1);
const settings = { kvTypeK: "f16", kvTypeV: "f16", flashAttention: "auto", others: "" } as const;

describe("the key of kept state", () => {
  it("is another one when a patch of llama.cpp or a file of ours has changed, at the same commit", () => {
    const key = stateKey(secret, llamaCpp, "model", settings);
    expect(stateKey(secret, { ...llamaCpp }, "model", settings)).toEqual(key);
    expect(stateKey(secret, { ...llamaCpp, sources: "bb" }, "model", settings)).not.toEqual(key);
  });

  it("is another one for another secret, commit, model or type of the cache", () => {
    const keys = [
      stateKey(secret, llamaCpp, "model", settings),
      stateKey(Buffer.alloc(32, 2), llamaCpp, "model", settings),
      stateKey(secret, { ...llamaCpp, commit: "0" }, "model", settings),
      stateKey(secret, llamaCpp, "other", settings),
      stateKey(secret, llamaCpp, "model", { ...settings, kvTypeK: "q8_0" }),
      stateKey(secret, llamaCpp, "model", { ...settings, flashAttention: "off" }),
    ].map((key) => key.toString("hex"));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
