// LM Studio's API: v0, which extends OpenAI's, and v1, which extends the management API at the same paths.
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { lmStudioChatCompletions } from "./v0/chat-completions.ts";
import { lmStudioCompletions } from "./v0/completions.ts";
import { addListedModels } from "./v0/models.ts";
import { lmStudioChat } from "./v1/chat.ts";
import { addManagedModels, type LmStudioModelOptions } from "./v1/models.ts";

export async function lmStudioApi(
  app: FastifyInstance,
  options: InferenceOptions & LmStudioModelOptions,
): Promise<void> {
  addGenerationRoute(app, lmStudioChatCompletions, options);
  addGenerationRoute(app, lmStudioCompletions, options);
  addListedModels(app, options);
  addManagedModels(app, options);
  addGenerationRoute(app, lmStudioChat(), options);
}
