// What holds the arguments of calls in a chat template's own syntax to the schemas of their tools: rules of our own converter, because
// llama.cpp's takes parts of a schema for the whole.
import type { NativeArgumentRule, NativeArgumentSkills, NativeChat } from "../native/addon.ts";
import { schemaArguments, schemaRule, schemaMembers } from "./structured/json-schema.ts";
import { cachedRules, Rules, SchemaError } from "./structured/rules.ts";
import { safeParameters, refuseLostReferences } from "./structured/tool-parameters.ts";
import { closeEmptyParameters } from "./tool-syntax.ts";
import { Tool } from "./tools.ts";
import { invalidRequest } from "../base/errors.ts";
import { invalidOption } from "../base/issue-message.ts";

interface ToolRules extends Pick<NativeChat, "toolRules" | "argumentRules"> {
  /** For each tool, the schema from which llama.cpp takes the syntax of calls. */
  schemas: string[];
  /** Whether each call of a tool with `strict` is valid for it. */
  isEnforced: boolean;
}

interface RulesOfTool {
  text: string;
  rules: NativeArgumentRule[];
  schema: string;
}

export function toolRules(tools: readonly Tool[], skills: NativeArgumentSkills): ToolRules {
  const kept = cachedRules(`arguments ${JSON.stringify([skills, tools])}`, () =>
    JSON.stringify(writeRules(tools, skills)),
  );
  const rules: ToolRules = JSON.parse(kept);
  return rules;
}

/** llama.cpp takes the syntax of calls from the tools' own schemas, as far as it can read them, or from nothing. */
export function unenforcedRules(tools: readonly Tool[], areSchemasRead: boolean): ToolRules {
  const schemas = tools.map(({ parameters }) => (areSchemasRead ? readable(parameters) : anyArguments));
  return { toolRules: "", argumentRules: [], schemas, isEnforced: false };
}

const anyArguments = JSON.stringify({ type: "object" });

function readable(parameters: Tool["parameters"]): string {
  return JSON.stringify(safeParameters(parameters));
}

function writeRules(tools: readonly Tool[], skills: NativeArgumentSkills): ToolRules {
  const allowance = { steps: stepsMax };
  const written = tools.map((tool, at) =>
    rulesOfTool(tool, skills, `ingle-tool-${toLetters(at)}-`, allowance),
  );
  const all = written.flatMap((each) => each?.rules ?? []);
  const counts = new Map<string, number>();
  for (const { standsFor } of all) counts.set(standsFor, (counts.get(standsFor) ?? 0) + 1);
  // Two tools may be named so that an argument of the one has the name of the other.
  const isClear = all.length === counts.size;
  return {
    toolRules: written.map((each) => each?.text ?? "").join(""),
    argumentRules: all.filter(({ standsFor }) => counts.get(standsFor) === 1),
    schemas: tools.map(({ parameters }, at) => written[at]?.schema ?? readable(parameters)),
    isEnforced: tools.every(({ strict = false }, at) => !strict || (isClear && written[at] !== undefined)),
  };
}

/** For all tools of a request: what one schema may take twice, some 40 milliseconds. */
const stepsMax = 240_000;

/** Undefined for a tool whose schema cannot be enforced in this syntax. */
function rulesOfTool(
  tool: Tool,
  skills: NativeArgumentSkills,
  prefix: string,
  allowance: { steps: number },
): RulesOfTool | undefined {
  const { name, parameters, strict = false } = tool;
  const schema = { type: "object", ...closeEmptyParameters(parameters) };
  const rules = new Rules(prefix);
  try {
    if (skills.syntax === "other" || allowance.steps <= 0) return undefined;
    return skills.syntax === "json"
      ? wholeObject(name, schema, strict, rules)
      : eachArgument(name, schema, strict, skills, rules);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return undefined;
  } finally {
    allowance.steps -= rules.steps;
  }
}

function wholeObject(name: string, schema: object, strict: boolean, rules: Rules): RulesOfTool {
  const rule = schemaRule(schema, strict, rules);
  return {
    text: ruleLines(rules, rule),
    rules: [{ standsFor: `tool-${name}-schema`, rule }],
    schema: anyArguments,
  };
}

function eachArgument(
  name: string,
  schema: Tool["parameters"],
  strict: boolean,
  skills: NativeArgumentSkills,
  rules: Rules,
): RulesOfTool {
  const all = schemaArguments(schema, strict, skills, rules);
  const named = all.flatMap(({ name: argument, types, text }): NativeArgumentRule[] => {
    if (text === undefined) return [];
    const kind = types.includes("string") ? "text" : "schema";
    return [{ standsFor: `tool-${name}-arg-${argument}-${kind}`, rule: rules.add(text) }];
  });
  const properties = all.map(({ name: argument, types }) => [argument, { type: types }] as const);
  const required = all.filter(({ isRequired }) => isRequired).map(({ name: argument }) => argument);
  return {
    text: ruleLines(rules, named[0]?.rule ?? '""'),
    rules: named,
    schema: JSON.stringify({ type: "object", properties: Object.fromEntries(properties), required }),
  };
}

/** The rules as text, without the first line, which gives the first rule a name of its own. */
function ruleLines(rules: Rules, first: string): string {
  const text = rules.text(first);
  return text.slice(text.indexOf("\n") + 1);
}

/** Names of rules have no digits before their number. */
function toLetters(index: number): string {
  const letter = String.fromCodePoint(97 + (index % 26));
  return index < 26 ? letter : `${toLetters(Math.floor(index / 26) - 1)}${letter}`;
}

/** The tool with its defaults. Throws `invalid_request` if requests to some model would fail because of it. */
export function checkTool(tool: unknown): Tool {
  const read = Tool.safeParse(tool);
  if (!read.success) throw invalidOption(read.error, read.error.issues[0]);
  try {
    const { parameters } = read.data;
    refuseLostReferences(parameters);
    schemaRule({ type: "object", ...parameters }, false, new Rules());
    schemaMembers(parameters, false, new Rules());
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest("parameters", `${error.message}.`, error);
    throw error;
  }
  return read.data;
}
