import { expect, it } from "vitest";
import { uniqueNames } from "./tool-names.ts";

const assignNames = (...tools: [server: string, tool: string][]) =>
  uniqueNames(tools.map(([server, tool]) => ({ server, tool })));

it("keeps a tool's own name, unless several servers have it", () => {
  expect(assignNames(["files", "read"], ["web", "search"], ["wiki", "search"])).toEqual([
    "read",
    "web__search",
    "wiki__search",
  ]);
});

it("replaces what a name may not contain, and cuts it", () => {
  expect(assignNames(["a", "what time?"], ["a", "x".repeat(100)])).toEqual(["what_time_", "x".repeat(64)]);
});

it("makes all names different, whatever servers and tools are called", () => {
  const names = assignNames(
    ["a", "b"],
    ["c", "b"],
    ["d", "a__b"],
    ["a", "x y"],
    ["a", "x-y"],
    ["a", "x?y"],
    ["a", "y".repeat(90)],
    ["b", "y".repeat(90)],
    ["a", `${"y".repeat(90)}z`],
  );
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 3)).toEqual(["a__b_2", "c__b", "a__b"]);
  for (const name of names) expect(name).toMatch(/^[\w.-]{1,64}$/);
});
