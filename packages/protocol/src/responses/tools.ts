// The text format and the tools of a request to /v1/responses, which are less nested than those of a chat request.
import { z } from "zod";

import { nameLengthMax } from "../fields/content.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { flag, optionalField, requestObject } from "../fields/field.ts";
import { schemaFields } from "../fields/response-format.ts";
import { arrayOf } from "../fields/size-precheck.ts";
import { functionFields, refineToolChoice, toolsMax, toolsOf } from "../fields/tools.ts";

const toolTypeRule = `a tool must be an object whose type is a string of 1 to ${nameLengthMax} characters`;

/** A function that the model may call. */
export const ResponsesTool = requestObject("ResponsesTool", {
  type: z.literal("function", toolTypeRule),
  ...functionFields,
});
export type ResponsesTool = z.infer<typeof ResponsesTool>;

/**
 * A tool that is not a function: only the service that defines its type can run it. It is ignored, and a response header says so.
 */
const OtherTool = z
  .looseObject({
    type: z.string(toolTypeRule).min(1, toolTypeRule).max(nameLengthMax, toolTypeRule),
  })
  // Abort: otherwise this issue would hide the others of a function.
  .refine(({ type }) => type !== "function", { error: toolTypeRule, abort: true })
  .meta({ id: "ResponsesOtherTool", description: "Ignored: the model only sees functions." });
type OtherTool = z.infer<typeof OtherTool>;

const AnyTool = z.union([ResponsesTool, OtherTool], toolTypeRule);

/** Whether the model sees this tool. */
export function isFunctionTool(tool: ResponsesTool | OtherTool): tool is ResponsesTool {
  return tool.type === "function";
}

const choiceRule =
  'tool_choice must be "auto", "none", "required", a function, or allowed_tools that are functions';

const FunctionChoice = z.looseObject(
  { type: z.literal("function", choiceRule), name: z.string(choiceRule) },
  choiceRule,
);

const AllowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"], 'mode must be "auto" or "required"'),
  tools: arrayOf(FunctionChoice, choiceRule, { min: 1, max: toolsMax }),
});

/** Whether to call tools: the model decides, never, at least one, this one, or only some of them. */
export const ResponsesToolChoice = z
  .union(
    [
      z.enum(["auto", "none", "required"]),
      z.discriminatedUnion("type", [FunctionChoice, AllowedTools], choiceRule),
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
  tools: optionalField(toolsOf(AnyTool)),
  tool_choice: optionalField(ResponsesToolChoice),
  parallel_tool_calls: flag("parallel_tool_calls"),
};

type ResponsesToolFields = z.infer<z.ZodObject<typeof responsesToolFields>>;

/** Adds an issue if the choice names or requires a tool that the request does not have. */
export function refineResponsesTools(request: ResponsesToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "auto" } = request;
  const names = tools.filter(isFunctionTool).map(({ name }) => name);
  for (const wanted of wantedOf(choice)) refineToolChoice(wanted, names, context);
}

/** The tools that the choice needs; undefined is any. */
function wantedOf(choice: ResponsesToolChoice): (string | undefined)[] {
  if (typeof choice === "string") return choice === "required" ? [undefined] : [];
  return choice.type === "function" ? [choice.name] : choice.tools.map(({ name }) => name);
}
