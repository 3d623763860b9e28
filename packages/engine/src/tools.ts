// Tools that a model may call, as the engine takes them. Used by generation-request.ts and chat-preparation.ts.
import { z } from "zod";
import { depthOf } from "./structured/json-depth.ts";

/** Schemas inside schemas: the native code that reads them recurses. */
const parametersDepthMax = 64;
/** UTF-16 units of the parameters of all tools of a request together. */
const parametersLengthMax = 1024 * 1024;
/** Most tools of one request. */
const toolsMax = 512;

export const Tool = z
  .object({
    name: z
      .string()
      .regex(
        /^[\w.:/-]{1,128}$/,
        "a tool's name has 1 to 128 letters, digits, dots, colons, slashes, dashes or underscores",
      ),
    description: z.string().default(""),
    /** A JSON schema of type object. Default: no parameters. */
    parameters: z
      .record(z.string(), z.unknown())
      .refine((schema) => depthOf(schema) <= parametersDepthMax, {
        error: `parameters must not be nested deeper than ${parametersDepthMax}`,
        abort: true,
      })
      .default({ type: "object", properties: {} }),
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
  /** Whether to call tools: as the model likes, never, at least one, or this very one. Default `auto`. */
  toolChoice: z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })]).default("auto"),
  /** Whether one reply may call several tools. Default true. */
  parallelToolCalls: z.boolean().default(true),
});
