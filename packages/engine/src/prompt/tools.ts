// The tools of a request, and which of them the model may call.
import { z } from "zod";
import { nestingDepth } from "./structured/schema-keywords.ts";

/** Maximum nesting depth of a tool's parameters: the native code that reads them recurses. */
const parametersDepthMax = 64;
/** Maximum total length of all tools of a request as JSON, in UTF-16 units. */
const parametersLengthMax = 1024 * 1024;
/** Maximum number of tools per request. */
const toolsMax = 512;

export const Tool = z
  .object({
    name: z
      .string()
      .regex(
        /^[\w.:/-]{1,128}$/,
        "a tool's name must have 1 to 128 letters, digits, dots, colons, slashes, dashes or underscores",
      ),
    description: z.string().default(""),
    /** A JSON schema of type object. Default: no parameters. */
    parameters: z
      .record(z.string(), z.unknown())
      .refine((schema) => nestingDepth(schema) <= parametersDepthMax, {
        error: `parameters must not be nested deeper than ${parametersDepthMax}`,
        abort: true,
      })
      .default({ type: "object", properties: {} }),
    /**
     * Whether every call must be valid for `parameters`: a request with a schema that cannot be enforced is refused. Otherwise, what
     * cannot be enforced is ignored. Default false.
     */
    strict: z.boolean().optional(),
    /**
     * Whether the prompt's list of tools leaves it out, because a message describes it: a tool that is added later would otherwise
     * change the start of the prompt, and nothing after it would be found in the prefix cache. Default false.
     */
    isDeferred: z.boolean().optional(),
  })
  .meta({ id: "Tool" });
export type Tool = z.infer<typeof Tool>;

export const ToolOptions = z.object({
  tools: z
    .array(Tool)
    .max(toolsMax)
    .refine(
      (tools) => JSON.stringify(tools).length <= parametersLengthMax,
      `tools must have at most ${parametersLengthMax} characters`,
    )
    .refine(
      (tools) => new Set(tools.map(({ name }) => name)).size === tools.length,
      "tools must have different names",
    )
    .optional(),
  /** Whether to call tools: the model decides (`auto`, the default), never, at least one, or the named one. */
  toolChoice: z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })]).default("auto"),
  /** Whether one reply may make several calls. Default true. */
  parallelToolCalls: z.boolean().default(true),
});
