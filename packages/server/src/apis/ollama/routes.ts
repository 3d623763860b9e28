// Ollama's API, under /api.
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { ollamaChat } from "./chat.ts";
import { addEmbeddings } from "./embeddings.ts";
import { ollamaGenerate } from "./generate.ts";
import { addModels, type OllamaModelOptions } from "./models.ts";

export async function ollamaApi(
  app: FastifyInstance,
  options: InferenceOptions & OllamaModelOptions,
): Promise<void> {
  addGenerationRoute(app, ollamaChat, options);
  addGenerationRoute(app, ollamaGenerate, options);
  addEmbeddings(app, options);
  addModels(app, options);
}
