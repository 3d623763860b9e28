// The text format and the tools of a request to /v1/responses, which are less nested than those of a chat request.
import { z } from "zod";

import { nameLengthMax, textField } from "../fields/content.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { flag, optionalField, refuseField, requestObject } from "../fields/field.ts";
import { schemaFields } from "../fields/response-format.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import {
  functionFields,
  refineToolChoice,
  toolDescriptionField,
  toolNameField,
  toolsMax,
  toolList,
} from "../fields/tools.ts";

const toolTypeRule = `a tool must be an object whose type is a string of 1 to ${nameLengthMax} characters`;

/** A function that the model may call. */
export const ResponsesTool = requestObject("ResponsesTool", {
  type: z.literal("function", toolTypeRule),
  ...functionFields,
});
export type ResponsesTool = z.infer<typeof ResponsesTool>;

const formatRule = 'format must be {"type": "text"}, or {"type": "grammar", "syntax": …, "definition": …}';

/** The format of a custom tool's input. The model is told a grammar; it is not enforced. */
const InputFormat = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({
      type: z.literal("grammar"),
      syntax: z.enum(["lark", "regex"], 'syntax must be "lark" or "regex"'),
      definition: textField("definition"),
    }),
  ],
  formatRule,
);

/** A tool with a text as its only argument. */
export const ResponsesCustomTool = requestObject("ResponsesCustomTool", {
  type: z.literal("custom"),
  name: toolNameField,
  description: toolDescriptionField,
  format: optionalField(InputFormat),
});
export type ResponsesCustomTool = z.infer<typeof ResponsesCustomTool>;

/**
 * A tool that the model is not told about: only the service that defines its type can run it. It is ignored, and a response header
 * says so.
 */
const OtherTool = z
  .looseObject({
    type: z.string(toolTypeRule).min(1, toolTypeRule).max(nameLengthMax, toolTypeRule),
  })
  // Abort: otherwise this issue would hide the others of a known type.
  .refine(({ type }) => !["function", "custom", "namespace"].includes(type), {
    error: toolTypeRule,
    abort: true,
  })
  .meta({ id: "ResponsesOtherTool", description: "Ignored: the model is not told about it." });
type OtherTool = z.infer<typeof OtherTool>;

/** Tools whose names are unique only among themselves, such as those of one MCP server. */
export const ResponsesNamespace = requestObject("ResponsesNamespace", {
  type: z.literal("namespace"),
  name: toolNameField,
  description: toolDescriptionField,
  tools: toolList(
    z.union(
      [z.discriminatedUnion("type", [ResponsesTool, ResponsesCustomTool], toolTypeRule), OtherTool],
      toolTypeRule,
    ),
  ),
});
export type ResponsesNamespace = z.infer<typeof ResponsesNamespace>;

const AnyTool = z.union(
  [
    z.discriminatedUnion("type", [ResponsesTool, ResponsesCustomTool, ResponsesNamespace], toolTypeRule),
    OtherTool,
  ],
  toolTypeRule,
);
type AnyTool = z.infer<typeof AnyTool>;

/** Whether the model can call this tool. */
export function isCallable(tool: AnyTool): tool is ResponsesTool | ResponsesCustomTool {
  return tool.type === "function" || tool.type === "custom";
}

/** Whether this is a namespace, with tools of its own. */
export function isNamespace(tool: AnyTool): tool is ResponsesNamespace {
  return tool.type === "namespace";
}

const choiceRule =
  'tool_choice must be "auto", "none", "required", a function or custom tool, or allowed_tools that are such tools';

const NamedTool = z.looseObject(
  { type: z.literal(["function", "custom"], choiceRule), name: z.string(choiceRule) },
  choiceRule,
);

const AllowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"], 'mode must be "auto" or "required"'),
  tools: boundedArray(NamedTool, choiceRule, { min: 1, max: toolsMax }),
});

/** Whether to call tools: the model decides, never, at least one, this one, or only some of them. */
export const ResponsesToolChoice = z
  .union(
    [
      z.enum(["auto", "none", "required"]),
      z.discriminatedUnion("type", [NamedTool, AllowedTools], choiceRule),
    ],
    choiceRule,
  )
  .meta({ id: "ResponsesToolChoice" });
export type ResponsesToolChoice = z.infer<typeof ResponsesToolChoice>;

/** The format of the reply's text. */
export const ResponsesTextFormat = z
  .discriminatedUnion(
    "type",
    [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({ type: z.literal("json_object") }),
      z.looseObject({ type: z.literal("json_schema"), ...schemaFields }),
    ],
    "format must be an object whose type is text, json_object or json_schema",
  )
  .meta({ id: "ResponsesTextFormat" });
export type ResponsesTextFormat = z.infer<typeof ResponsesTextFormat>;

/** The fields by their wire names. */
export const responsesToolFields = {
  text: optionalField(
    z.looseObject(
      {
        format: optionalField(ResponsesTextFormat),
        verbosity: ignoredField("ask for it in the instructions", ["medium"]),
      },
      "text must be an object with a format",
    ),
  ),
  tools: optionalField(toolList(AnyTool)),
  tool_choice: optionalField(ResponsesToolChoice),
  parallel_tool_calls: flag("parallel_tool_calls"),
};

type ResponsesToolFields = z.infer<z.ZodObject<typeof responsesToolFields>>;

/** Adds an issue if there are too many tools, or if the choice names or requires a tool that the request does not have. */
export function refineResponsesTools(request: ResponsesToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "auto" } = request;
  const inNamespaces = tools.flatMap((tool) => (isNamespace(tool) ? tool.tools : []));
  if (tools.length + inNamespaces.length > toolsMax)
    refuseField(context, "tools", `tools must have at most ${toolsMax} entries, with those of namespaces`);
  const names = tools.filter(isCallable).map(({ name }) => name);
  const inner = inNamespaces.filter(isCallable).map(({ name }) => name);
  // A choice names no tool of a namespace; any tool may be one.
  for (const wanted of wantedNames(choice))
    refineToolChoice(wanted, wanted === undefined ? [...names, ...inner] : names, context);
}

/** The tools that the choice needs; undefined is any. */
function wantedNames(choice: ResponsesToolChoice): (string | undefined)[] {
  if (typeof choice === "string") return choice === "required" ? [undefined] : [];
  return choice.type === "allowed_tools" ? choice.tools.map(({ name }) => name) : [choice.name];
}
