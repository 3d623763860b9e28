// The models a server can serve, as `GET /v1/models` and `GET /v1/models/{id}` list them.
import { z } from "zod";

/** One model. Sizes are `null` where they are not known before the model is loaded. */
export const ModelEntry = z
  .object({
    id: z.string().meta({ description: "The value for a request's `model`." }),
    object: z.literal("model"),
    created: z.int().meta({ description: "Unix seconds." }),
    owned_by: z.string(),
    context_length: z
      .int()
      .nullable()
      .meta({ description: "Tokens that one request may hold, prompt and reply." }),
    max_model_len: z
      .int()
      .nullable()
      .meta({ description: "The same as context_length, by the name other servers use." }),
    input_modalities: z.array(z.enum(["text", "image"])),
    quantization: z.string().nullable().meta({ description: "Such as Q4_K_M." }),
    size_bytes: z.int().nullable().meta({ description: "Bytes of the weights." }),
    n_params: z.int().nullable().meta({ description: "Number of parameters." }),
    status: z.enum(["loaded", "loading", "available"]),
  })
  .meta({ id: "ModelEntry" });
export type ModelEntry = z.infer<typeof ModelEntry>;

/** The answer of `GET /v1/models`: only what can be served. */
export const ModelList = z
  .object({ object: z.literal("list"), data: z.array(ModelEntry) })
  .meta({ id: "ModelList" });
export type ModelList = z.infer<typeof ModelList>;
