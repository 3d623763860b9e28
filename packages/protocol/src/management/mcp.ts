// The MCP servers of the user's mcp.json, which only the app's control address has, under /api/v1/mcp: its page turns them on and runs
// the calls that models ask for.
import { z } from "zod";

import { ImagePart } from "../chat/messages.ts";
import { TextPart } from "../fields/content.ts";
import { optionalField, requestObject, responseObject, stringField } from "../fields/field.ts";
import { modelField } from "../fields/request-fields.ts";

/** Maximum length of the name of a server or of a tool on it, in UTF-16 units. */
const mcpNameLengthMax = 1024;

const nameField = (name: string) => stringField(name, { min: 1, max: mcpNameLengthMax });

/** A tool that models may be told of. */
export const McpTool = responseObject("McpTool", {
  name: z.string().describe("Its name in requests to models: no other tool has the same."),
  tool: z.string().describe("Its name on the server."),
  title: z.string().nullable().describe("Its name for people, if the server has one."),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable().describe("A JSON schema of type object."),
  allowed: z
    .boolean()
    .describe("Whether its calls run without `approval`: by a rule of the file, or an earlier `always`."),
});
export type McpTool = z.infer<typeof McpTool>;

export const McpServer = responseObject("McpServer", {
  name: z.string(),
  kind: z.enum(["stdio", "http", "invalid"]).describe("A program, an address, or an entry that is neither."),
  state: z
    .enum(["stopped", "starting", "ready", "failed", "ended", "disabled"])
    .describe("`ended`: it was ready, and is gone. `disabled`: the file says that it is not to be started."),
  problems: z
    .array(z.string())
    .describe("Why it failed or ended, and which tools are left out, as sentences."),
  tools: z.array(McpTool),
});
export type McpServer = z.infer<typeof McpServer>;

/** The response of `GET /api/v1/mcp`, and of `POST …/start` and `…/stop`. */
export const McpServerList = responseObject("McpServerList", {
  object: z.literal("list"),
  data: z.array(McpServer),
  file: z.string().nullable().describe("The path of the mcp.json; null if tools are turned off."),
  problem: z.string().nullable().describe("Why the file cannot be used."),
  rounds: z.int().describe("How many replies to one message may call tools."),
});
export type McpServerList = z.infer<typeof McpServerList>;

/** The body of `POST /api/v1/mcp/start` and `…/stop`. */
export const McpServerRequest = requestObject("McpServerRequest", { name: nameField("name") });
export type McpServerRequest = z.infer<typeof McpServerRequest>;

/** What the user has decided about a call. `always` is for this tool, until its server is stopped. */
export const McpApproval = z.enum(["once", "always", "no"], 'approval must be "once", "always" or "no"');
export type McpApproval = z.infer<typeof McpApproval>;

/** The body of `POST /api/v1/mcp/call`. */
export const McpCallRequest = requestObject("McpCallRequest", {
  server: nameField("server"),
  tool: nameField("tool"),
  arguments: z.record(z.string(), z.unknown(), "arguments must be an object"),
  model: modelField.describe(
    "The model that gets the result: whether it reads images, and its context, bound the result.",
  ),
  approval: optionalField(McpApproval, "Required unless the tool is `allowed`."),
});
export type McpCallRequest = z.infer<typeof McpCallRequest>;

/** A part of a tool message. */
const McpResultPart = z.discriminatedUnion("type", [TextPart, ImagePart]).meta({ id: "McpResultPart" });

/** What the model gets. A failure or a refusal begins with `Error:`. */
export const McpCallResult = responseObject("McpCallResult", {
  status: z.enum(["done", "failed", "refused"]),
  content: z.array(McpResultPart).describe("The content of a tool message."),
});
export type McpCallResult = z.infer<typeof McpCallResult>;
