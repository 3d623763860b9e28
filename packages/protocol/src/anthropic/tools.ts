// The tools of a request in Anthropic's shape, and how they may be called. Used by request.ts.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { flag } from "../request-fields.ts";
import { refineToolChoice, toolDescriptionField, toolNameField, toolsOf } from "../tools.ts";
import { typeRule } from "../type-rule.ts";

const schemaRule = "input_schema must be a JSON schema: an object";
const typesRule = "the type of a tool must be custom, for this server has no tools of its own";

/** A tool that the client runs. Tools with a type of their own run elsewhere, or are known only to other models. */
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

const disable_parallel_tool_use = flag("disable_parallel_tool_use", {
  description: "One reply calls one tool at most.",
  default: false,
});

/** The fields by their wire names. */
export const customToolFields = {
  tools: optionalField(toolsOf(CustomTool), {
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
  const names = tools.map((tool) => tool.name);
  refineToolChoice(choice.type === "tool" ? choice.name : undefined, names, context);
}
