import { expect, it } from "vitest";
import { checkTool } from "./tool-rules.ts";

it("fills in what a tool does not say", () => {
  expect(checkTool({ name: "now" })).toEqual({
    name: "now",
    description: "",
    parameters: { type: "object", properties: {} },
  });
});

it.each([
  ["a name with a space", { name: "what time" }, "name: a tool's name must have"],
  ["parameters that are no object", { name: "now", parameters: [] }, "parameters: "],
  [
    "a reference that points at nothing",
    { name: "now", parameters: { type: "object", properties: { place: { $ref: "#/$defs/place" } } } },
    "points at nothing",
  ],
  [
    "a type that no schema has",
    { name: "now", parameters: { type: "object", properties: { place: { type: "town" } } } },
    'unknown type "town"',
  ],
])("refuses %s", (_what, tool, message) => {
  expect(() => checkTool(tool)).toThrow(message);
});
