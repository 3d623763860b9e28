// The tools of a request in Anthropic's shape, and which of them the model must or may call.
import { z } from "zod";

import { flag, optionalField, typeRule } from "../fields/field.ts";
import { nameLengthMax } from "../fields/content.ts";
import { jsonSchemaField } from "../fields/response-format.ts";
import {
  refineToolChoice,
  strictToolField,
  toolDescriptionField,
  toolNameField,
  toolList,
} from "../fields/tools.ts";

const typesRule = `the type of a tool must be custom, or a string of 1 to ${nameLengthMax} characters (such tools are ignored)`;

/** A tool that the client describes and runs. */
const CustomTool = z
  .looseObject(
    {
      type: optionalField(z.literal("custom", typeRule(typesRule))),
      name: toolNameField,
      description: toolDescriptionField,
      input_schema: jsonSchemaField("input_schema"),
      strict: strictToolField,
      defer_loading: flag(
        "defer_loading",
        "The model learns of the tool where a result has a `tool_reference` to it, not at the start of the prompt.",
        false,
      ),
    },
    "a tool must be an object",
  )
  .meta({ id: "CustomTool" });
type CustomTool = z.infer<typeof CustomTool>;

/**
 * A tool with a type of its own, such as `web_search_20250305` or `bash_20250124`: it runs on another service, or only that
 * service's models know its parameters. It is ignored, and a response header says so.
 */
const TypedTool = z
  .looseObject({ type: z.string(typesRule).min(1, typesRule).max(nameLengthMax, typesRule) })
  // Abort: otherwise this issue would hide the others of a custom tool.
  .refine(({ type }) => type !== "custom", { error: typesRule, abort: true })
  .meta({ id: "TypedTool", description: "Ignored: the model only sees custom tools." });
type TypedTool = z.infer<typeof TypedTool>;

const AnyTool = z.union([CustomTool, TypedTool], "a tool must be an object");

/** Whether the model sees this tool. */
export function isCustomTool(tool: CustomTool | TypedTool): tool is CustomTool {
  return tool.type === undefined || tool.type === "custom";
}

const disable_parallel_tool_use = flag(
  "disable_parallel_tool_use",
  "The reply calls at most one tool.",
  false,
);

/** The fields by their wire names. */
export const customToolFields = {
  tools: optionalField(toolList(AnyTool), "Tools that the model may call and the client runs."),
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
    "Whether the reply calls tools: the model decides, at least once, this tool, or never.",
    { type: "auto" },
  ),
};

export type CustomToolFields = z.infer<z.ZodObject<typeof customToolFields>>;

/** Adds an issue if the choice names or requires a tool that the request does not have. */
export function refineCustomTools(request: CustomToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice } = request;
  if (choice?.type !== "any" && choice?.type !== "tool") return;
  const names = tools.filter(isCustomTool).map(({ name }) => name);
  refineToolChoice(choice.type === "tool" ? choice.name : undefined, names, context);
}
