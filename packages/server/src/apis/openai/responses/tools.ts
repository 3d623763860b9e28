// The tools of a request to /v1/responses as the model gets them. The model knows functions only: a custom tool becomes a function
// with one text, and a tool of a namespace has the namespace's name in its own.
import {
  isCallable,
  isNamespace,
  type ResponsesCustomTool,
  type ResponseObject,
  type ResponsesRequest,
  type ResponsesTool,
} from "@ingle/protocol";
import type { GenerationRequest } from "@ingle/engine";

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;
type EngineTool = NonNullable<ChatRequest["tools"]>[number];
type Tools = NonNullable<ResponsesRequest["tools"]>;

/** A tool by the names of the request. */
interface ToolName {
  name: string;
  namespace?: string | undefined;
}

interface CalledTool extends ToolName {
  type: "function" | "custom";
}

/** The only argument of a custom tool. */
export const customArgument = "input";

/** The name that the model knows a tool by. Namespaces of MCP servers may end in underscores already. */
export function modelName({ name, namespace }: ToolName): string {
  if (namespace === undefined) return name;
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`;
}

/** Finds the tool that the model calls by a name; a name that no tool has is a function's. */
export function toolFinder(tools: Tools = []): (name: string) => CalledTool {
  const byName = new Map(
    offered(tools).map(({ tool, namespace }) => {
      const { type, name } = tool;
      return [modelName({ name, namespace }), { type, name, namespace }] as const;
    }),
  );
  return (name) => byName.get(name) ?? { type: "function", name };
}

/** The prompt contains only the allowed tools. */
export function toEngineTools({
  tools,
  tool_choice: choice,
}: Pick<ResponsesRequest, "tools" | "tool_choice">): Pick<ChatRequest, "tools" | "toolChoice"> {
  const all = tools && offered(tools).map(toEngineTool);
  if (typeof choice !== "object") return { tools: all, toolChoice: choice };
  if (choice.type !== "allowed_tools") return { tools: all, toolChoice: { name: choice.name } };
  const allowed = new Set(choice.tools.map(({ name }) => name));
  return { tools: all?.filter(({ name }) => allowed.has(name)), toolChoice: choice.mode };
}

/** The types of tools that the model is not told about, each once. */
export function ignoredTypes(tools: Tools = []): string[] {
  const all = tools.flatMap((tool) => (isNamespace(tool) ? tool.tools : [tool]));
  return [...new Set(all.filter((tool) => !isCallable(tool)).map(({ type }) => type))];
}

/** The tools as the response repeats them; absent fields are null. */
export function toShownTools(tools: Tools = []): ResponseObject["tools"] {
  return tools.flatMap((tool): ResponseObject["tools"] => {
    if (isCallable(tool)) return [toShownTool(tool)];
    if (!isNamespace(tool)) return [];
    const { type, name, description = null } = tool;
    return [{ type, name, description, tools: tool.tools.filter(isCallable).map(toShownTool) }];
  });
}

interface Offered {
  tool: ResponsesTool | ResponsesCustomTool;
  namespace?: string;
}

/** The tools that the model is told about, those of namespaces among them. */
function offered(tools: Tools): Offered[] {
  return tools.flatMap((tool): Offered[] => {
    if (isCallable(tool)) return [{ tool }];
    if (!isNamespace(tool)) return [];
    return tool.tools.filter(isCallable).map((inner) => ({ tool: inner, namespace: tool.name }));
  });
}

function toEngineTool({ tool, namespace }: Offered): EngineTool {
  const name = modelName({ name: tool.name, namespace });
  if (tool.type === "function") {
    const { description, parameters, strict } = tool;
    return { name, description, parameters, strict };
  }
  return {
    name,
    description: describedWithFormat(tool),
    parameters: {
      type: "object",
      properties: { [customArgument]: { type: "string" } },
      required: [customArgument],
      additionalProperties: false,
    },
  };
}

function describedWithFormat({ description = "", format }: ResponsesCustomTool): string {
  if (format?.type !== "grammar") return description;
  const notation = format.syntax === "lark" ? "Lark grammar" : "regular expression";
  const rule = `${customArgument} must match this ${notation}:\n${format.definition}`;
  return description === "" ? rule : `${description}\n\n${rule}`;
}

function toShownTool(tool: Offered["tool"]) {
  const { name, description = null } = tool;
  if (tool.type === "custom")
    return { type: tool.type, name, description, format: tool.format ?? { type: "text" as const } };
  const { parameters = null, strict = null } = tool;
  return { type: tool.type, name, description, parameters, strict };
}
