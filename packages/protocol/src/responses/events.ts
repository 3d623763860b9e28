// Every event of a streamed reply of /v1/responses. Used by the server's mapper; the client takes its types from here.
import { z } from "zod";

import { ErrorBody } from "../errors.ts";
import { TokenLogprob } from "../logprobs.ts";
import {
  ResponseObject,
  ResponsesOutputItem,
  ResponsesOutputText,
  ResponsesReasoningText,
} from "./answer.ts";

const sequence_number = z.int().meta({ description: "0 in the first event, and 1 more in each." });
const output_index = z.int().meta({ description: "The item's place in the reply." });

const inItem = { sequence_number, item_id: z.string(), output_index };
const inPart = { ...inItem, content_index: z.int() };

/** With the reply as it is then. */
const ofAnswer = { sequence_number, response: ResponseObject };
const ofItem = { sequence_number, output_index, item: ResponsesOutputItem };
const ofPart = {
  ...inPart,
  part: z.discriminatedUnion("type", [ResponsesOutputText, ResponsesReasoningText]),
};
const logprobs = z.array(TokenLogprob);

/** One event; `type` is its name in the stream, too. */
export const ResponsesEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("response.created"), ...ofAnswer }),
    z.object({ type: z.literal("response.in_progress"), ...ofAnswer }),
    z.object({ type: z.literal("response.completed"), ...ofAnswer }),
    z.object({ type: z.literal("response.incomplete"), ...ofAnswer }),
    z.object({ type: z.literal("response.failed"), ...ofAnswer }),
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
    /** The last event of a stream that is cut short. It says what is wrong twice, for clients look in both places. */
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
