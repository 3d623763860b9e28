// The chat of LM Studio's API v1, in which the server keeps the earlier messages: the request, the response, and its events.
import { z } from "zod";

import { imageUrlField, nameField, partsMax, textField } from "../fields/content.ts";
import { flag, integerField, optionalField, responseObject, typeRule } from "../fields/field.ts";
import { bodyRule, servedModelField, tokenLimit } from "../fields/request-fields.ts";
import { samplingFields } from "../fields/sampling.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import { LmStudioError } from "./models.ts";

const inputRule = `input must be a text or an array of 1 to ${partsMax} texts and images`;

const InputItem = z
  .discriminatedUnion(
    "type",
    [
      z.looseObject({ type: z.literal(["message", "text"]), content: textField("content") }),
      z.looseObject({ type: z.literal("image"), data_url: imageUrlField("data_url") }),
    ],
    typeRule("an item of input must be an object of type message, text or image"),
  )
  .meta({ id: "LmStudioInputItem" });
export type LmStudioInputItem = z.infer<typeof InputItem>;

const integrationsRule = "integrations are not supported: the server calls no tools";
const { temperature, top_p, top_k, min_p, repeat_penalty } = samplingFields;

/** The body of `POST /api/v1/chat`. */
export const LmStudioChatRequest = z
  .looseObject(
    {
      model: servedModelField,
      input: z
        .union([textField("input"), boundedArray(InputItem, inputRule, { min: 1, max: partsMax })], inputRule)
        .describe("The user's next message: a text, or texts and images in their order."),
      system_prompt: optionalField(
        textField("system_prompt"),
        "The system message; in a continued chat, it replaces the earlier one.",
      ),
      previous_response_id: optionalField(
        nameField("previous_response_id"),
        "The response that this message follows; its chat is continued.",
      ),
      store: flag("store", "Keeps the chat, so that another request can continue it.", true),
      stream: flag("stream", "Sends the reply while it is generated, as named events.", false),
      temperature,
      top_p,
      top_k,
      min_p,
      repeat_penalty,
      max_output_tokens: tokenLimit(
        "max_output_tokens",
        "Maximum number of tokens in the reply, at least 1; -1, the default, means no limit.",
      ),
      reasoning: optionalField(
        z.enum(
          ["off", "low", "medium", "high", "on"],
          "reasoning must be one of off, low, medium, high and on",
        ),
        "Whether, or how much, the model reasons first; the default depends on the chat template.",
      ),
      context_length: optionalField(
        integerField("context_length", { min: 1, max: 2 ** 31 - 1 }),
        "The context that the request needs, in tokens.",
      ),
      integrations: optionalField(
        z.array(z.unknown(), integrationsRule).max(0, integrationsRule),
        `Refused: ${integrationsRule}.`,
      ),
    },
    bodyRule,
  )
  .meta({ id: "LmStudioChatRequest" });
export type LmStudioChatRequest = z.infer<typeof LmStudioChatRequest>;

const OutputItem = z.object({ type: z.enum(["message", "reasoning"]), content: z.string() });
export type LmStudioOutputItem = z.infer<typeof OutputItem>;

export const LmStudioChatResponse = responseObject("LmStudioChatResponse", {
  model_instance_id: z.string().describe("The model's id."),
  output: z.array(OutputItem),
  stats: z.object({
    input_tokens: z.int().describe("Includes the earlier chat and the template."),
    total_output_tokens: z.int(),
    reasoning_output_tokens: z.int(),
    tokens_per_second: z.number().describe("Of the tokens after the first."),
    time_to_first_token_seconds: z.number(),
    model_load_time_seconds: z.number().optional().describe("Absent if the model was in memory already."),
  }),
  response_id: z
    .string()
    .optional()
    .describe("Names this response for previous_response_id; absent without store."),
});
export type LmStudioChatResponse = z.infer<typeof LmStudioChatResponse>;

const model_instance_id = z.string();

export const LmStudioChatEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("chat.start"), model_instance_id }),
    z.object({ type: z.literal("model_load.start"), model_instance_id }),
    z.object({ type: z.literal("model_load.progress"), model_instance_id, progress: z.number() }),
    z.object({ type: z.literal("model_load.end"), model_instance_id, load_time_seconds: z.number() }),
    z.object({
      type: z.enum([
        "prompt_processing.start",
        "prompt_processing.end",
        "reasoning.start",
        "reasoning.end",
        "message.start",
        "message.end",
      ]),
    }),
    z.object({ type: z.enum(["reasoning.delta", "message.delta"]), content: z.string() }),
    z.object({ type: z.literal("error"), error: LmStudioError.shape.error }),
    z.object({ type: z.literal("chat.end"), result: LmStudioChatResponse }),
  ])
  .meta({ id: "LmStudioChatEvent" });
export type LmStudioChatEvent = z.infer<typeof LmStudioChatEvent>;
