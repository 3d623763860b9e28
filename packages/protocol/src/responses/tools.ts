// The form of a reply and the tools of a request to /v1/responses, which stand flatter here than in a chat request.
// Used by request.ts; answers give the choice back in the same form.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { flag } from "../request-fields.ts";
import { formOrToolsRule, mayCall, schemaFields } from "../response-format.ts";
import { functionFields, refineToolChoice, toolsMax, toolsOf } from "../tools.ts";
import { typeRule } from "./type-rule.ts";

/** A function that the model may call. */
export const ResponsesTool = z
  .looseObject(
    {
      type: z.literal(
        "function",
        typeRule('this server has no tools of its own: a tool\'s type must be "function"'),
      ),
      ...functionFields,
    },
    "a tool must be an object",
  )
  .meta({ id: "ResponsesTool" });
export type ResponsesTool = z.infer<typeof ResponsesTool>;

const choiceRule =
  'tool_choice must be "auto", "none", "required", a function, or allowed_tools that are functions';

const FunctionChoice = z.looseObject(
  { type: z.literal("function", choiceRule), name: z.string(choiceRule) },
  choiceRule,
);

const AllowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"], 'mode must be "auto" or "required"'),
  tools: z.array(FunctionChoice, choiceRule).min(1, choiceRule).max(toolsMax, choiceRule),
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
    z.looseObject({ format: optionalField(ResponsesTextFormat) }, "text must be an object with a format"),
  ),
  tools: optionalField(toolsOf(ResponsesTool)),
  tool_choice: optionalField(ResponsesToolChoice),
  parallel_tool_calls: flag("parallel_tool_calls"),
};

type ResponsesToolFields = z.infer<z.ZodObject<typeof responsesToolFields>>;

/** Adds issues for choices among tools that are not there, and for a form beside tools that may be called. */
export function refineResponsesTools(request: ResponsesToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "auto", text } = request;
  const names = tools.map(({ name }) => name);
  for (const wanted of wantedOf(choice)) refineToolChoice(wanted, names, context);
  if ((text?.format?.type ?? "text") === "text" || !mayCall(request)) return;
  context.addIssue({ code: "custom", path: ["text", "format"], message: formOrToolsRule("text.format") });
}

/** The tools that must be there; undefined is any. */
function wantedOf(choice: ResponsesToolChoice): (string | undefined)[] {
  if (typeof choice === "string") return choice === "required" ? [undefined] : [];
  return choice.type === "function" ? [choice.name] : choice.tools.map(({ name }) => name);
}
