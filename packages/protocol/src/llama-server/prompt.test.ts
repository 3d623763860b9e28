import { describe, expect, it } from "vitest";
import { promptField } from "./prompt.ts";

const field = promptField("prompt", 4);
const read = (value: unknown): unknown => field.parse(value);
const issues = (value: unknown): string[] =>
  (field.safeParse(value).error?.issues ?? []).map(({ message }) => message);

describe("a prompt of llama-server's requests", () => {
  it.each([
    ["a text", "a", ["a"]],
    ["token ids", [1, 2], [Int32Array.of(1, 2)]],
    ["both mixed", [1, 2, "a", 3], [[Int32Array.of(1, 2), "a", Int32Array.of(3)]]],
    ["an object", { prompt_string: "a" }, ["a"]],
    ["texts", ["a", "b"], ["a", "b"]],
    [
      "several of each",
      ["a", [1], ["b", 2], { prompt_string: "c" }],
      ["a", Int32Array.of(1), ["b", Int32Array.of(2)], "c"],
    ],
  ])("may be %s", (_, value, prompts) => {
    expect(read(value)).toEqual(prompts);
  });

  it.each([
    ["nothing", []],
    ["a number", 1],
    ["a negative id", [1, -1]],
    ["a fraction among texts", ["a", 1.5]],
    ["too many", ["a", "b", "c", "d", "e"]],
    ["an empty list among others", ["a", []]],
    ["a list of lists of lists", [[[1]]]],
    ["a million texts and a number", [...Array.from({ length: 1_000_000 }, () => "a"), 1]],
    ["a million nulls", Array.from({ length: 1_000_000 }, () => null)],
  ])("is refused with one issue if it is %s", (_, value) => {
    const begin = performance.now();
    expect(issues(value)).toEqual([expect.stringContaining("prompt must be")]);
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});
