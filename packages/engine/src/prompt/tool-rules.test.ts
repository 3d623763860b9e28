import { describe, expect, it } from "vitest";
import { prepareForTemplate, type ModelTemplate } from "./chat-preparation.ts";
import { checkGenerationRequest } from "../generate/generation-request.ts";
import { callsBegin } from "./tool-syntax.ts";
import { scriptedTemplate } from "@ingle/fixtures/scripted-addon";
import { toolRules } from "./tool-rules.ts";
import type { Tool } from "./tools.ts";

const json = { syntax: "json", end: "", readsJson: false } as const;
const text = { syntax: "text", end: "\n</p>\n", readsJson: false } as const;
const other = { syntax: "other", end: "", readsJson: false } as const;

function prepared(tool: object, skills: Partial<ModelTemplate>, more: object = {}) {
  const tools = [{ name: "f", ...tool }];
  const request = checkGenerationRequest({ messages: [{ role: "user", content: "Hi" }], tools, ...more });
  if (request.messages === undefined) throw new Error("no chat");
  return prepareForTemplate(request, { ...scriptedTemplate, ...skills });
}

const makeTool = (parameters: Tool["parameters"], strict = false): Tool => ({
  name: "f",
  description: "",
  parameters,
  strict,
});

const open = { type: "object", properties: { a: {} }, unevaluatedProperties: false };
const alternatives = {
  type: "object",
  oneOf: [
    { properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false },
    { properties: { b: { type: "string" } }, required: ["b"], additionalProperties: false },
  ],
};

describe("a tool with strict", () => {
  it.each([
    ["json", json, "auto"],
    ["text", text, "auto"],
    ["other", other, "auto"],
    ["json", json, "required"],
  ])(
    "is refused by the name of what cannot be enforced, where arguments are written as %s",
    (_syntax, skills, toolChoice) => {
      const ask = (strict: boolean) =>
        prepared({ parameters: open, strict }, { arguments: skills }, { toolChoice });
      expect(() => ask(true)).toThrow(
        'tools: the parameters of "f": unevaluatedProperties cannot be enforced',
      );
      expect(() => ask(false)).not.toThrow();
    },
  );

  it("is told and called in our own syntax where the template's cannot hold it", () => {
    const { chat, read } = prepared({ parameters: alternatives, strict: true }, { arguments: text });
    expect(chat.grammarTrigger).toBe(callsBegin);
    expect(chat.tools).toEqual([]);
    expect(chat.messages[0]?.content).toContain("You can call these tools");
    expect(read).toBeDefined();
  });

  it.each([
    ["json", json],
    ["text", text],
  ])("is told and called in the template's own syntax that can: %s", (_syntax, skills) => {
    const parameters = {
      type: "object",
      properties: { a: { type: "string", minLength: 2 } },
      required: ["a"],
    };
    const { chat, read } = prepared({ parameters, strict: true }, { arguments: skills });
    expect(chat.grammar).toBe("");
    expect(chat.argumentRules).toHaveLength(1);
    expect(read).toBeUndefined();
  });
});

it("tells the model the schema as it was given, and llama.cpp's parsers the types", () => {
  const properties = {
    code: { type: "string", pattern: "^[A-Z]{3}$" },
    count: { type: "integer", maximum: 9_007_199_254_740_991 },
    note: { type: ["string", "null"] },
  };
  const { chat } = prepared({ parameters: { type: "object", properties } }, { arguments: text });
  expect(JSON.parse(chat.tools[0]?.parameters ?? "")).toEqual({ type: "object", properties });
  expect(JSON.parse(chat.tools[0]?.argumentsSchema ?? "")).toEqual({
    type: "object",
    properties: { code: { type: ["string"] }, count: { type: ["number"] }, note: { type: ["string"] } },
    required: [],
  });
});

it("takes the union of alternatives for each argument, and requires what all of them require", () => {
  const { schemas } = toolRules([makeTool(alternatives)], text);
  expect(JSON.parse(schemas[0] ?? "")).toEqual({
    type: "object",
    properties: { a: { type: ["number"] }, b: { type: ["string"] } },
    required: [],
  });
});

it.each([json, text])("takes time that grows with the number of optional parameters: %j", (skills) => {
  const properties = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "string", minLength: 1 }]),
  );
  const before = process.cpuUsage();
  const { argumentRules } = toolRules([makeTool({ type: "object", properties })], skills);
  const { user, system } = process.cpuUsage(before);
  expect(argumentRules.length).toBeGreaterThan(0);
  // Processor time; it took a tenth of a second.
  expect((user + system) / 1_000).toBeLessThan(2_000);
});

it("does not take the arguments of two tools for each other, whose names allow that", () => {
  const parameters = { type: "object", properties: { "b-arg-c": { type: "integer" } } };
  const nested = { type: "object", properties: { c: { type: "boolean" } } };
  const tools = [
    { ...makeTool(parameters, true), name: "a" },
    { ...makeTool(nested), name: "a-arg-b" },
  ];
  const { argumentRules, isEnforced } = toolRules(tools, text);
  expect(argumentRules).toEqual([]);
  expect(isEnforced).toBe(false);
});
