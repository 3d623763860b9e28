// The tools of a request in Anthropic's shape, and how they may be called. Used by request.ts.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { nameLengthMax } from "../messages.ts";
import { flag } from "../request-fields.ts";
import { refineToolChoice, toolDescriptionField, toolNameField, toolsOf } from "../tools.ts";
import { typeRule } from "../type-rule.ts";

const schemaRule = "input_schema must be a JSON schema: an object";
const typesRule = `the type of a tool must be custom, or the text of 1 to ${nameLengthMax} characters of a tool that is left out`;

/** A tool that the client describes and runs. */
export const CustomTool = z
  .looseObject(
    {
      type: optionalField(z.literal("custom", typeRule(typesRule))),
      name: toolNameField,
      description: toolDescriptionField,
      input_schema: z.record(z.string(), z.unknown(), schemaRule),
    },
    "a tool must be an object",
  )
  .meta({ id: "CustomTool" });
export type CustomTool = z.infer<typeof CustomTool>;

/**
 * A tool with a type of its own, such as `web_search_20250305` or `bash_20250124`: it runs elsewhere, or only other models know
 * what it takes. It is left out, which the answer says in a header.
 */
const TypedTool = z
  .looseObject({ type: z.string(typesRule).min(1, typesRule).max(nameLengthMax, typesRule) })
  // Abort: else this would be the one problem of a custom tool that has others.
  .refine(({ type }) => type !== "custom", { error: typesRule, abort: true })
  .meta({ id: "TypedTool", description: "Ignored: the model is told of custom tools only." });
type TypedTool = z.infer<typeof TypedTool>;

const AnyTool = z.union([CustomTool, TypedTool], "a tool must be an object");

/** Whether the model may be told of it. */
export function isCustomTool(tool: CustomTool | TypedTool): tool is CustomTool {
  return tool.type === undefined || tool.type === "custom";
}

const disable_parallel_tool_use = flag("disable_parallel_tool_use", {
  description: "One reply calls one tool at most.",
  default: false,
});

/** The fields by their wire names. */
export const customToolFields = {
  tools: optionalField(toolsOf(AnyTool), {
    description: "Tools that the model may call and the client runs.",
  }),
  tool_choice: optionalField(
    z.discriminatedUnion(
      "type",
      [
        z.looseObject({ type: z.literal("auto"), disable_parallel_tool_use }),
        z.looseObject({ type: z.literal("any"), disable_parallel_tool_use }),
        z.looseObject({ type: z.literal("tool"), name: toolNameField, disable_parallel_tool_use }),
        z.looseObject({ type: z.literal("none") }),
      ],
      "tool_choice must be an object whose type is auto, any, tool (with a name) or none",
    ),
    {
      description: "Whether the reply calls: as the model likes, at least once, this tool, or never.",
      default: { type: "auto" },
    },
  ),
};

export type CustomToolFields = z.infer<z.ZodObject<typeof customToolFields>>;

/** Adds issues for choices among tools that are not there. */
export function refineCustomTools(request: CustomToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice } = request;
  if (choice?.type !== "any" && choice?.type !== "tool") return;
  const names = tools.filter(isCustomTool).map(({ name }) => name);
  refineToolChoice(choice.type === "tool" ? choice.name : undefined, names, context);
}
