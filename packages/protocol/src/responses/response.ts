// The response of /v1/responses: the items of a reply, and the settings of its request.
import { z } from "zod";

import { TokenLogprob } from "../fields/logprobs.ts";
import { ResponsesToolChoice } from "./tools.ts";
import { responseObject } from "../fields/field.ts";

/** `incomplete`: cut at a limit or by an error. */
const itemStatus = z.enum(["in_progress", "completed", "incomplete"]);

export const ResponsesOutputText = responseObject("ResponsesOutputText", {
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()).describe("Always empty: no built-in tool cites anything."),
  logprobs: z.array(TokenLogprob).describe("Of every token, if the request includes them."),
});
export type ResponsesOutputText = z.infer<typeof ResponsesOutputText>;

export const ResponsesReasoningText = responseObject("ResponsesReasoningText", {
  type: z.literal("reasoning_text"),
  text: z.string(),
});
export type ResponsesReasoningText = z.infer<typeof ResponsesReasoningText>;

const MessageItem = z.object({
  id: z.string().describe("msg_…"),
  type: z.literal("message"),
  role: z.literal("assistant"),
  status: itemStatus,
  content: z.array(ResponsesOutputText),
});

const ReasoningItem = z.object({
  id: z.string().describe("rs_…"),
  type: z.literal("reasoning"),
  status: itemStatus,
  summary: z.array(z.never()).describe("Always empty: content has the whole reasoning."),
  content: z.array(ResponsesReasoningText),
});

const callFields = {
  status: itemStatus,
  call_id: z.string().describe("The id that the call's output refers to."),
  name: z.string(),
  namespace: z.string().optional().describe("Of the tool, if it is in one."),
};

const FunctionCallItem = z.object({
  id: z.string().describe("fc_…"),
  type: z.literal("function_call"),
  ...callFields,
  arguments: z.string().describe("A JSON object as text; complete if the item is completed."),
});

const CustomToolCallItem = z.object({
  id: z.string().describe("ctc_…"),
  type: z.literal("custom_tool_call"),
  ...callFields,
  input: z.string().describe("A text; complete if the item is completed."),
});

/** A message, reasoning or a tool call. */
export const ResponsesOutputItem = z
  .discriminatedUnion("type", [MessageItem, ReasoningItem, FunctionCallItem, CustomToolCallItem])
  .meta({ id: "ResponsesOutputItem" });
export type ResponsesOutputItem = z.infer<typeof ResponsesOutputItem>;

/** Tokens of the prompt and the reply. */
export const ResponsesUsage = responseObject("ResponsesUsage", {
  input_tokens: z.int(),
  input_tokens_details: z.object({
    cached_tokens: z.int(),
    cache_write_tokens: z.int().describe("Always 0: the prefix cache is not billed."),
  }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});
export type ResponsesUsage = z.infer<typeof ResponsesUsage>;

const nullableText = z.string().nullable();

/** As in the request; absent fields are null. */
const format = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    name: nullableText,
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullable(),
  }),
]);

/** As in the request; absent fields are null. */
const functionTool = z.object({
  type: z.literal("function"),
  name: z.string(),
  description: nullableText,
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});
const customTool = z.object({
  type: z.literal("custom"),
  name: z.string(),
  description: nullableText,
  format: z.discriminatedUnion("type", [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("grammar"), syntax: z.enum(["lark", "regex"]), definition: z.string() }),
  ]),
});
const namespaceTool = z.object({
  type: z.literal("namespace"),
  name: z.string(),
  description: nullableText,
  tools: z.array(z.discriminatedUnion("type", [functionTool, customTool])),
});
const tool = z.discriminatedUnion("type", [functionTool, customTool, namespaceTool]);

/** `queued`, `cancelled`: only in the background. `incomplete`: cut at a limit. */
export const ResponseStatus = z.enum([
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "cancelled",
]);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

/** The response if `stream` is not true; in events, the response so far. */
export const ResponseObject = responseObject("ResponseObject", {
  id: z.string().describe("resp_…"),
  object: z.literal("response"),
  created_at: z.int().describe("Unix seconds."),
  completed_at: z.int().nullable().describe("Unix seconds."),
  status: ResponseStatus,
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
  model: z.string(),
  output: z.array(ResponsesOutputItem),
  usage: ResponsesUsage.nullable(),
  instructions: nullableText,
  max_output_tokens: z.int().nullable(),
  temperature: z.number(),
  top_p: z.number(),
  top_logprobs: z.int(),
  text: z.object({ format }),
  tools: z.array(tool),
  tool_choice: ResponsesToolChoice,
  parallel_tool_calls: z.boolean(),
  reasoning: z.object({ effort: nullableText, summary: nullableText }),
  truncation: z.enum(["auto", "disabled"]),
  metadata: z.record(z.string(), z.string()),
  user: nullableText,
  safety_identifier: nullableText,
  prompt_cache_key: nullableText,
  service_tier: z.literal("default"),
  store: z.boolean(),
  background: z.boolean(),
  previous_response_id: nullableText,
  conversation: z.object({ id: z.string() }).nullable(),
});
export type ResponseObject = z.infer<typeof ResponseObject>;

/** The response of `POST /v1/responses/input_tokens` and of `POST /v1/chat/completions/input_tokens`. */
export const InputTokenCount = responseObject("InputTokenCount", {
  object: z.literal("response.input_tokens"),
  input_tokens: z.int().describe("Tokens of the prompt."),
});
export type InputTokenCount = z.infer<typeof InputTokenCount>;
