// The form of a reply and the tools of a request to /v1/responses, which stand flatter here than in a chat request.
// Used by request.ts; answers give the choice back in the same form.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { ignoredField } from "../ignored.ts";
import { arrayOf } from "../in-bounds.ts";
import { nameLengthMax } from "../messages.ts";
import { flag } from "../request-fields.ts";
import { schemaFields } from "../response-format.ts";
import { functionFields, refineToolChoice, toolsMax, toolsOf } from "../tools.ts";

const toolTypeRule = `a tool must be an object whose type is a text of 1 to ${nameLengthMax} characters`;

/** A function that the model may call. */
export const ResponsesTool = z
  .looseObject({ type: z.literal("function", toolTypeRule), ...functionFields })
  .meta({ id: "ResponsesTool" });
export type ResponsesTool = z.infer<typeof ResponsesTool>;

/**
 * A tool that is no function: the service that its type belongs to would run it, or read what the model writes for it in a
 * syntax of its own. It is left out, which the answer says in a header.
 */
const OtherTool = z
  .looseObject({
    type: z.string(toolTypeRule).min(1, toolTypeRule).max(nameLengthMax, toolTypeRule),
  })
  // Abort: else this would be the one problem of a function that has others.
  .refine(({ type }) => type !== "function", { error: toolTypeRule, abort: true })
  .meta({ id: "ResponsesOtherTool", description: "Ignored: the model is told of functions only." });
type OtherTool = z.infer<typeof OtherTool>;

const AnyTool = z.union([ResponsesTool, OtherTool], toolTypeRule);

/** Whether the model may be told of it. */
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

/** Whether to call tools: as the model likes, never, at least one, this very one, or some of them only. */
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

/** How the reply's text is written. */
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
        verbosity: ignoredField("say it in the instructions", ["medium"]),
      },
      "text must be an object with a format",
    ),
  ),
  tools: optionalField(toolsOf(AnyTool)),
  tool_choice: optionalField(ResponsesToolChoice),
  parallel_tool_calls: flag("parallel_tool_calls"),
};

type ResponsesToolFields = z.infer<z.ZodObject<typeof responsesToolFields>>;

/** Adds issues for choices among tools that are not there. */
export function refineResponsesTools(request: ResponsesToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "auto" } = request;
  const names = tools.filter(isFunctionTool).map(({ name }) => name);
  for (const wanted of wantedOf(choice)) refineToolChoice(wanted, names, context);
}

/** The tools that must be there; undefined is any. */
function wantedOf(choice: ResponsesToolChoice): (string | undefined)[] {
  if (typeof choice === "string") return choice === "required" ? [undefined] : [];
  return choice.type === "function" ? [choice.name] : choice.tools.map(({ name }) => name);
}
