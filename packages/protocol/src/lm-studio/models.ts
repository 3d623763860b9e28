// Models as LM Studio's API v0 lists them.
import { z } from "zod";

import { responseObject } from "../fields/field.ts";

/** One model of `GET /api/v0/models`. */
export const LmStudioModel = responseObject("LmStudioModel", {
  id: z.string().describe("The value for a request's `model`."),
  object: z.literal("model"),
  type: z.enum(["llm", "vlm", "embeddings"]).describe("`vlm` reads images."),
  publisher: z.string().describe("The part of the id before the slash, else local."),
  arch: z.string().describe("Empty until the file is read."),
  compatibility_type: z.enum(["gguf", "mlx"]),
  quantization: z.string(),
  state: z.enum(["loaded", "loading", "not-loaded"]),
  max_context_length: z
    .int()
    .describe("Tokens of context that it was trained for; 0 until the file is read."),
  loaded_context_length: z
    .int()
    .optional()
    .describe("Tokens of one request; absent while the model is not loaded."),
  capabilities: z.array(z.string()).describe("tool_use, if its chat template includes tools."),
});
export type LmStudioModel = z.infer<typeof LmStudioModel>;

/** The response of `GET /api/v0/models`: every known model, loaded or not. */
export const LmStudioModels = responseObject("LmStudioModels", {
  object: z.literal("list"),
  data: z.array(LmStudioModel),
});
export type LmStudioModels = z.infer<typeof LmStudioModels>;
