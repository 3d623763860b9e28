// Checks a single tool from a foreign source, because one invalid tool would make every request with tools fail.
import { invalidRequest } from "./errors.ts";
import { invalidOption } from "./issue-message.ts";
import { schemaMembers, schemaRule } from "./structured/json-schema.ts";
import { Rules, SchemaError } from "./structured/rules.ts";
import { refuseLostReferences } from "./structured/tool-parameters.ts";
import { Tool } from "./tools.ts";

/** The tool with its defaults. Throws `invalid_request` if requests to some model would fail because of it. */
export function checkTool(tool: unknown): Tool {
  const read = Tool.safeParse(tool);
  if (!read.success) throw invalidOption(read.error, read.error.issues[0]);
  try {
    const { parameters } = read.data;
    refuseLostReferences(parameters);
    schemaRule({ type: "object", ...parameters }, false, new Rules());
    schemaMembers(parameters, false, new Rules());
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest("parameters", `${error.message}.`, error);
    throw error;
  }
  return read.data;
}
