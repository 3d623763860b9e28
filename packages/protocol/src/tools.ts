// The tools of a chat request, and how they may be called. Used by chat.ts, and for what tools are everywhere by
// responses/tools.ts.
import { z } from "zod";

import { optionalField } from "./absent.ts";
import { arrayOf } from "./in-bounds.ts";

/** Most entries of `tools`: more than any agent has, and each is written into the prompt. */
export const toolsMax = 512;

/** Most characters of a tool's description: as many as the engine takes of all tools together. */
export const descriptionLengthMax = 1024 * 1024;

const toolNameRule = "name must have 1 to 128 letters, digits, dots, colons, slashes, dashes or underscores";
const parametersRule = "parameters must be a JSON schema: an object";

/** What a tool is called. */
export const toolNameField = z.string(toolNameRule).regex(/^[\w.:/-]{1,128}$/, toolNameRule);

/** What a tool does, in words for the model. */
export const toolDescriptionField = optionalField(
  z
    .string("description must be a string")
    .max(descriptionLengthMax, `description must be at most ${descriptionLengthMax} characters`),
);

/** What a function is called, what it does and takes. */
export const functionFields = {
  name: toolNameField,
  description: toolDescriptionField,
  parameters: optionalField(z.record(z.string(), z.unknown(), parametersRule), {
    description: "A JSON schema of type object; without it the function takes nothing.",
  }),
  strict: optionalField(z.boolean("strict must be true or false"), {
    description: "Accepted: calls are held to their schema with and without it.",
  }),
};

/** A function that the model may call. */
export const Tool = z
  .looseObject(
    {
      type: z.literal("function", 'type must be "function"'),
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
        tools: arrayOf(NamedTool, toolChoiceRule, { min: 1, max: toolsMax }),
      },
      toolChoiceRule,
    ),
  },
  toolChoiceRule,
);

/** Whether to call tools: as the model likes, never, at least one, this very one, or some of them only. */
const ToolChoice = z.union(
  [
    z.enum(["auto", "none", "required"]),
    z.discriminatedUnion("type", [NamedTool, AllowedTools], toolChoiceRule),
  ],
  toolChoiceRule,
);

/** The tools of a request. */
export function toolsOf<Schema extends z.ZodType>(tool: Schema) {
  const ofCount = `tools must have at most ${toolsMax} entries`;
  return arrayOf(tool, "tools must be an array", { max: toolsMax, ofCount });
}

/** The fields by their wire names. */
export const toolFields = {
  tools: optionalField(toolsOf(Tool), { description: "Functions that the model may call." }),
  tool_choice: optionalField(ToolChoice, {
    description:
      "Whether the reply calls: as the model likes, never, at least once, this function, or some of them only.",
    default: "auto",
  }),
  parallel_tool_calls: optionalField(z.boolean("parallel_tool_calls must be true or false"), {
    description: "Whether one reply may call several.",
    default: true,
  }),
};

export type ToolFields = z.infer<z.ZodObject<typeof toolFields>>;

/** Adds issues for choices among tools that are not there. */
export function refineTools(request: ToolFields, context: z.RefinementCtx): void {
  const { tools = [], tool_choice: choice = "none" } = request;
  if (choice === "none" || choice === "auto") return;
  const names = tools.map((tool) => tool.function.name);
  for (const wanted of wantedOf(choice)) refineToolChoice(wanted, names, context);
}

/** The tools that must be there; undefined is any. */
function wantedOf(choice: Exclude<ToolFields["tool_choice"], undefined | "auto" | "none">) {
  if (choice === "required") return [undefined];
  const named = choice.type === "function" ? [choice] : choice.allowed_tools.tools;
  return named.map((tool) => tool.function.name);
}

/** The same for a choice that is a call, of the tool `name` or of any, however a request writes it. */
export function refineToolChoice(
  name: string | undefined,
  names: readonly string[],
  context: z.RefinementCtx,
): void {
  const refuse = (message: string) => context.addIssue({ code: "custom", path: ["tool_choice"], message });
  if (name === undefined && names.length === 0) refuse("tool_choice needs tools");
  if (name !== undefined && !names.includes(name))
    refuse("tool_choice names a function that tools do not have");
}
