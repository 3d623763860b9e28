// The models in Anthropic's shape, for clients that say so with the header `anthropic-version`. Used by the server's
// /v1/models.
import { z } from "zod";

import { optionalField } from "../absent.ts";
import { modelLengthMax } from "../request-fields.ts";

/** Most models of one page, as the convention has it. */
export const modelsPageMax = 1_000;

const limitRule = `limit must be an integer from 1 to ${modelsPageMax}`;
const idRule = `must be an id of at most ${modelLengthMax} characters`;

/** Which page of the list is asked for. */
export const ModelsQuery = z.looseObject({
  limit: optionalField(
    z.coerce.number(limitRule).int(limitRule).min(1, limitRule).max(modelsPageMax, limitRule),
    {
      description: "Most models of the answer. Read only with the header anthropic-version, as what follows.",
      default: modelsPageMax,
    },
  ),
  after_id: optionalField(z.string().max(modelLengthMax, `after_id ${idRule}`), {
    description: "The models behind this one.",
  }),
  before_id: optionalField(z.string().max(modelLengthMax, `before_id ${idRule}`), {
    description: "The models before this one.",
  }),
});
export type ModelsQuery = z.infer<typeof ModelsQuery>;

/** One model. */
export const AnthropicModel = z
  .object({
    type: z.literal("model"),
    id: z.string().meta({ description: "The value for a request's `model`." }),
    display_name: z.string(),
    created_at: z.string().meta({ description: "In the form of RFC 3339." }),
    max_input_tokens: z.int().nullable().meta({ description: "Tokens that one request may hold." }),
    max_tokens: z.int().nullable().meta({ description: "The same: prompt and reply share them." }),
  })
  .meta({ id: "AnthropicModel" });
export type AnthropicModel = z.infer<typeof AnthropicModel>;

/** A page of them. */
export const AnthropicModelList = z
  .object({
    data: z.array(AnthropicModel),
    has_more: z.boolean().meta({ description: "There are others in the direction that was asked for." }),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: "AnthropicModelList" });
export type AnthropicModelList = z.infer<typeof AnthropicModelList>;
