// Ollama's names of models and its durations, in ours.
import { describe, expect, it } from "vitest";
import { timeMsMax } from "../../settings/rules.ts";
import { keepAliveMs } from "./lease.ts";
import { toModelName } from "./conventions.ts";

describe("a model's name", () => {
  it.each([
    ["tiny", "tiny"],
    ["tiny:latest", "tiny"],
    ["hf.co/org/repo:Q4_K_M", "org/repo:Q4_K_M"],
    ["huggingface.co/org/repo:latest", "org/repo"],
    ["org/repo:Q8_0", "org/repo:Q8_0"],
  ])("%s is our %s", (name, expected) => {
    expect(toModelName(name)).toBe(expected);
  });
});

describe("keep_alive", () => {
  it.each([
    [0, 0],
    [90, 90_000],
    ["300ms", 300],
    ["1.5h", 5_400_000],
    ["2h45m", 9_900_000],
    ["0", 0],
    [-1, null],
    ["-1m", null],
    [1e12, timeMsMax],
  ])("%s is %s milliseconds", (keepAlive, expected) => {
    expect(keepAliveMs(keepAlive)).toBe(expected);
  });
});
