// Tools that a model may call, and which of them it must or may call.
import { z } from "zod";

import { flag, optionalField, refuseField, textFlag, typeRule } from "./field.ts";
import { jsonSchemaField } from "./response-format.ts";
import { boundedArray } from "./size-precheck.ts";

/** Maximum number of entries of `tools`: more than any agent has, and each becomes part of the prompt. */
export const toolsMax = 512;

/** Maximum length of a tool's description, in UTF-16 units: what the engine accepts for all tools together. */
const descriptionLengthMax = 1024 * 1024;

const toolNameRule = "name must have 1 to 128 letters, digits, dots, colons, slashes, dashes or underscores";

export const toolNameField = z.string(toolNameRule).regex(/^[\w.:/-]{1,128}$/, toolNameRule);

/** What a tool does, explained to the model. */
export const toolDescriptionField = optionalField(
  z
    .string("description must be a string")
    .max(descriptionLengthMax, `description must be at most ${descriptionLengthMax} characters`),
);

/** Whether each call must be valid for the schema of its tool. */
export const strictToolField = textFlag(
  "strict",
  "Refuses schema keywords that cannot be enforced; otherwise they are ignored.",
  false,
);

/** A function's name, purpose and parameters. */
export const functionFields = {
  name: toolNameField,
  description: toolDescriptionField,
  parameters: optionalField(
    jsonSchemaField("parameters"),
    "A JSON schema of type object; without it, the function has no parameters.",
  ),
  strict: strictToolField,
};

const toolTypeRule = typeRule(
  'the type of a tool must be "function"',
  new Map([
    [
      "custom",
      "tools of the type custom are known only to /v1/responses: send a function with one string parameter instead",
    ],
  ]),
);

/** A function that the model may call. */
export const Tool = z
  .looseObject(
    {
      type: z.literal("function", toolTypeRule),
      function: z.looseObject(functionFields, "function must be an object with a name"),
    },
    "a tool must be an object",
  )
  .meta({ id: "Tool" });
export type Tool = z.infer<typeof Tool>;

const toolChoiceRule =
  'tool_choice must be "auto", "none", "required", a named function, or allowed_tools that are functions';

const NamedTool = z.looseObject(
  {
    type: z.literal("function", toolChoiceRule),
    function: z.looseObject({ name: z.string(toolChoiceRule) }, toolChoiceRule),
  },
  toolChoiceRule,
);

const AllowedTools = z.looseObject(
  {
    type: z.literal("allowed_tools", toolChoiceRule),
    allowed_tools: z.looseObject(
      {
        mode: z.enum(["auto", "required"], 'mode must be "auto" or "required"'),
        tools: boundedArray(NamedTool, toolChoiceRule, { min: 1, max: toolsMax }),
      },
      toolChoiceRule,
    ),
  },
  toolChoiceRule,
);

/** Whether to call tools: the model decides, never, at least one, this one, or only some of them. */
const ToolChoice = z.union(
  [
    z.enum(["auto", "none", "required"]),
    z.discriminatedUnion("type", [NamedTool, AllowedTools], toolChoiceRule),
  ],
  toolChoiceRule,
);

/** The tools of a request. */
export function toolList<Schema extends z.ZodType>(tool: Schema) {
  const countRule = `tools must have at most ${toolsMax} entries`;
  return boundedArray(tool, "tools must be an array", { max: toolsMax, countRule });
}

/** The fields by their wire names. */
export const toolFields = {
  tools: optionalField(toolList(Tool), "Functions that the model may call."),
  tool_choice: optionalField(
    ToolChoice,
    "Whether the reply calls tools: the model decides, never, at least once, this function, or only some of them.",
    "auto",
  ),
  parallel_tool_calls: flag("parallel_tool_calls", "Whether one reply may make several calls.", true),
};

type ToolFields = z.infer<z.ZodObject<typeof toolFields>>;

/** Adds an issue if the choice names or requires a tool that the request does not have. */
export function refineTools(request: ToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "none" } = request;
  if (choice === "none" || choice === "auto") return;
  const names = tools.map((tool) => tool.function.name);
  for (const wanted of wantedNames(choice)) refineToolChoice(wanted, names, context);
}

/** The tools that the choice needs; undefined is any. */
function wantedNames(choice: Exclude<ToolFields["tool_choice"], undefined | "auto" | "none">) {
  if (choice === "required") return [undefined];
  const named = choice.type === "function" ? [choice] : choice.allowed_tools.tools;
  return named.map((tool) => tool.function.name);
}

/** The same for a choice of one tool by its name, or of any (`name` is undefined), in every protocol. */
export function refineToolChoice(
  name: string | undefined,
  names: readonly string[],
  context: z.RefinementCtx,
): void {
  const refuse = (message: string) => refuseField(context, "tool_choice", message);
  if (name === undefined && names.length === 0) refuse("tool_choice needs tools");
  if (name !== undefined && !names.includes(name))
    refuse("tool_choice names a function that is not in tools");
}
