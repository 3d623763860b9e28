// Tool calls for chat templates that do not support them: how the prompt lists the tools, the syntax of the calls, and their parser.
// LFM2's templates list the tools, but older ones drop earlier calls, so those are written in LFM2's own syntax.
import { withText, type Message, type ToolCall } from "./messages.ts";
import type { NativeReply } from "../native/addon.ts";
import { space } from "./structured/json-text.ts";
import { schemaMembers, schemaRule } from "./structured/json-schema.ts";
import { membersRule } from "./structured/object-members.ts";
import { literal, repeated, Rules, SchemaError } from "./structured/rules.ts";
import { isObject } from "./structured/schema-keywords.ts";
import type { Tool } from "./tools.ts";

/** The exact text before the first call: wherever a reply contains it, calls follow. */
export const callsBegin = '{"tool_calls": [';
/** Maximum number of calls per reply. */
const callsMax = 32;

/** Lists the tools in the system message. */
export function withToolList(messages: readonly Message[], tools: readonly Tool[]): Message[] {
  const list = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  const instructions =
    `You can call these tools:\n${list.join("\n")}\n\n` +
    `To call tools, answer with nothing but JSON of this form:\n` +
    `${callsBegin}{"name": "<name of a tool>", "arguments": {<its parameters>}}]}`;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [withText(first, "after", instructions, "\n\n"), ...rest];
}

/** What stands for the special tokens around LFM2's calls, which a message cannot spell. */
interface Lfm2Markup {
  begin: string;
  end: string;
}

/**
 * Turns calls and results into text, which every template supports. With `lfm2`, calls are in LFM2's syntax, and results stay as they are.
 */
export function withCallsSpelled(messages: readonly Message[], lfm2: Lfm2Markup | undefined): Message[] {
  return messages.map(({ toolCalls = [], ...message }): Message => {
    if (message.role === "tool" && lfm2 === undefined) {
      const of = message.name === undefined ? "" : ` of ${message.name}`;
      return withText({ role: "user", content: message.content }, "before", `Result${of}:\n`, "");
    }
    if (toolCalls.length === 0) return message;
    const calls = lfm2 === undefined ? spellJson(toolCalls) : spellLfm2(toolCalls, lfm2);
    return withText(message, "after", calls, lfm2 === undefined ? "\n" : "");
  });
}

function spellJson(calls: readonly ToolCall[]): string {
  const spelled = calls.map(
    (call) => `{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}`,
  );
  return `${callsBegin}${spelled.join(", ")}]}`;
}

/** A list of calls in the syntax of Python, but with JSON values. */
function spellLfm2(calls: readonly ToolCall[], { begin, end }: Lfm2Markup): string {
  const spelled = calls.map((call) => {
    const values: unknown = JSON.parse(call.arguments);
    const named = Object.entries(values ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return `${call.name}(${named.join(", ")})`;
  });
  return `${begin}[${spelled.join(", ")}]${end}`;
}

/** Keeps the names of the calls' rules apart from those of a response format. */
const callPrefix = "ingle-call-";

/** A tool with an empty list of properties has no parameters; as a mere schema, it would allow any object. */
export function closeEmptyParameters(parameters: Tool["parameters"]): Tool["parameters"] {
  const { properties } = parameters;
  const listsNone = isObject(properties) && Object.keys(properties).length === 0;
  return listsNone ? { additionalProperties: false, ...parameters } : parameters;
}

/** Adds the tool's name to a SchemaError. */
export function withToolName<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new SchemaError(error.kind, `the parameters of ${JSON.stringify(name)}: ${error.message}`);
  }
}

/** The grammar rules for calls. Throws a SchemaError. */
export function callsRules(tools: readonly Tool[], isParallel: boolean): string {
  const rules = new Rules(callPrefix);
  const gap = space(rules);
  const calls = tools.map(({ name, parameters, strict = false }) => {
    const values = withToolName(name, () =>
      schemaRule({ type: "object", ...closeEmptyParameters(parameters) }, strict, rules),
    );
    return rules.add(`${literal(`{"name": ${JSON.stringify(name)}, "arguments": `)} ${values} "}"`);
  });
  const call = rules.add(calls.join(" | "));
  const more = isParallel ? ` ${repeated(rules.add(`"," ${gap} ${call}`), 0, callsMax - 1)}` : "";
  return rules.text(`${literal(callsBegin)} ${call}${more} "]}"`);
}

/** The text before LFM2's calls. */
export const lfm2Begin = "<|tool_call_start|>";
/** The text after them. */
export const lfm2End = "<|tool_call_end|>";

/** The grammar rules for LFM2's calls, with JSON values of their schemas. Throws a SchemaError. */
export function lfm2Rules(tools: readonly Tool[], isParallel: boolean): string {
  const rules = new Rules(callPrefix);
  const calls = tools.map(({ name, parameters, strict = false }) => {
    const form = {
      open: literal(`${name}(`),
      close: '")"',
      pair: (argument: string) => literal(`${argument}=`),
    };
    return withToolName(name, () =>
      rules.add(
        schemaMembers(parameters, strict, rules)
          .map((members) => membersRule(members, rules, form))
          .join(" | "),
      ),
    );
  });
  const call = rules.add(calls.join(" | "));
  const more = isParallel ? ` ${repeated(rules.add(`"," ${space(rules)} ${call}`), 0, callsMax - 1)}` : "";
  return rules.text(`${literal(`${lfm2Begin}[`)} ${call}${more} ${literal(`]${lfm2End}`)}`);
}

/** Parses a reply, or the start of one, whose last call may be incomplete. Null if a whole reply has invalid calls. */
export async function readCalls(text: string, isPartial: boolean): Promise<NativeReply | null> {
  const begin = text.indexOf(callsBegin);
  if (begin < 0) {
    const pendingLength = isPartial ? possibleCallLength(text) : 0;
    return { content: text.slice(0, text.length - pendingLength), reasoning: "", calls: [] };
  }
  const calls = parseCalls(text, begin + callsBegin.length);
  if (!isPartial && !hasOnlyCalls(text.slice(begin), calls)) return null;
  return { content: text.slice(0, begin).trimEnd(), reasoning: "", calls };
}

/** The length of the end of the text that may be the start of calls, including space before it. */
function possibleCallLength(text: string): number {
  for (let length = Math.min(text.length, callsBegin.length - 1); length > 0; length--) {
    if (callsBegin.startsWith(text.slice(-length)))
      return text.length - text.slice(0, -length).trimEnd().length;
  }
  return text.length - text.trimEnd().length;
}

/** The text before a call's arguments. */
const callHead = /\{"name": ("[^"\\]*(?:\\.[^"\\]*)*"), "arguments": (?=\{)/y;
const callTail = /\},\s*/y;

/** The calls from `at` on, as far as they follow `callsRules`. */
function parseCalls(text: string, at: number): NativeReply["calls"] {
  const calls: NativeReply["calls"] = [];
  for (callHead.lastIndex = at; ; callHead.lastIndex = callTail.lastIndex) {
    const head = callHead.exec(text);
    if (head === null) return calls;
    const written = objectAt(text, callHead.lastIndex);
    calls.push({ id: "", name: String(JSON.parse(head[1] ?? "")), arguments: written.compact });
    callTail.lastIndex = written.end;
    if (!callTail.test(text)) return calls;
  }
}

/**
 * The JSON object at `begin`, or the start of it, without the space around its values, so that each result is a prefix of later
 * ones.
 */
function objectAt(text: string, begin: number): { compact: string; end: number } {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}[\]]|[^\s"{}[\]]+|\s+/y;
  token.lastIndex = begin;
  let compact = "";
  let depth = 0;
  let end = begin;
  do {
    const [part] = token.exec(text) ?? [];
    if (part === undefined) break;
    end = token.lastIndex;
    if (/^\s/.test(part)) continue;
    compact += part;
    if (part === "{" || part === "[") depth += 1;
    else if (part === "}" || part === "]") depth -= 1;
  } while (depth > 0);
  return { compact, end };
}

/** Whether these are all calls of a complete reply. */
function hasOnlyCalls(json: string, calls: NativeReply["calls"]): boolean {
  try {
    const parsed: unknown = JSON.parse(json);
    const list: unknown = isObject(parsed) ? parsed["tool_calls"] : undefined;
    return Array.isArray(list) && list.length === calls.length;
  } catch {
    return false;
  }
}
