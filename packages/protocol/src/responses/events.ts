// The events of a streamed response of /v1/responses.
import { z } from "zod";

import { ErrorBody } from "../errors.ts";
import { TokenLogprob } from "../fields/logprobs.ts";
import {
  ResponseObject,
  ResponsesOutputItem,
  ResponsesOutputText,
  ResponsesReasoningText,
} from "./response.ts";

const sequence_number = z.int().describe("0 in the first event; each next event adds 1.");
const output_index = z.int().describe("The index of the item in the output.");

const inItem = { sequence_number, item_id: z.string(), output_index };
const inPart = { ...inItem, content_index: z.int() };

const ofResponse = { sequence_number, response: ResponseObject };
const ofItem = { sequence_number, output_index, item: ResponsesOutputItem };
const ofPart = {
  ...inPart,
  part: z.discriminatedUnion("type", [ResponsesOutputText, ResponsesReasoningText]),
};
const logprobs = z.array(TokenLogprob);

/** One event; its `type` is also the name of the event. */
export const ResponsesEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("response.created"), ...ofResponse }),
    z.object({ type: z.literal("response.queued"), ...ofResponse }),
    z.object({ type: z.literal("response.in_progress"), ...ofResponse }),
    z.object({ type: z.literal("response.completed"), ...ofResponse }),
    z.object({ type: z.literal("response.incomplete"), ...ofResponse }),
    z.object({ type: z.literal("response.failed"), ...ofResponse }),
    z.object({ type: z.literal("response.output_item.added"), ...ofItem }),
    z.object({ type: z.literal("response.output_item.done"), ...ofItem }),
    z.object({ type: z.literal("response.content_part.added"), ...ofPart }),
    z.object({ type: z.literal("response.content_part.done"), ...ofPart }),
    z.object({ type: z.literal("response.output_text.delta"), ...inPart, delta: z.string(), logprobs }),
    z.object({ type: z.literal("response.output_text.done"), ...inPart, text: z.string(), logprobs }),
    z.object({ type: z.literal("response.reasoning_text.delta"), ...inPart, delta: z.string() }),
    z.object({ type: z.literal("response.reasoning_text.done"), ...inPart, text: z.string() }),
    z.object({ type: z.literal("response.function_call_arguments.delta"), ...inItem, delta: z.string() }),
    z.object({
      type: z.literal("response.function_call_arguments.done"),
      ...inItem,
      name: z.string(),
      arguments: z.string(),
    }),
    z.object({ type: z.literal("response.custom_tool_call_input.delta"), ...inItem, delta: z.string() }),
    z.object({ type: z.literal("response.custom_tool_call_input.done"), ...inItem, input: z.string() }),
    /** The last event of a stream that fails. It has the error twice, because clients read it in different places. */
    z.object({
      type: z.literal("error"),
      sequence_number,
      code: z.string(),
      message: z.string(),
      param: z.string().nullable(),
      ...ErrorBody.shape,
    }),
  ])
  .meta({ id: "ResponsesEvent" });
export type ResponsesEvent = z.infer<typeof ResponsesEvent>;
