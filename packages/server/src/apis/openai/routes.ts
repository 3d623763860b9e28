// OpenAI's API, all under /v1, and what other servers have added to it in its form: rerank, tokenize and render.
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import { addBatches } from "./batches/batch-routes.ts";
import { fileRoutes } from "./batches/file-routes.ts";
import { serverBatches, type BatchOptions } from "./batches/server-batches.ts";
import { chatCompletions } from "./chat/chat-completions.ts";
import { addChatControl } from "./chat/control.ts";
import { completions } from "./completions/completions.ts";
import { addEmbeddings } from "./embeddings.ts";
import { addModels } from "./models.ts";
import { addRendering } from "./prompt-tokens.ts";
import { addReranking } from "./rerank.ts";
import { responsesRoutes, type ResponsesOptions } from "./responses/routes.ts";
import { addTokenization } from "./tokenize.ts";
import { transcriptionRoutes } from "./transcriptions.ts";

export async function openAiApi(
  app: FastifyInstance,
  options: ResponsesOptions & BatchOptions,
): Promise<void> {
  addModels(app, options);
  addGenerationRoute(app, chatCompletions, options);
  addChatControl(app);
  addGenerationRoute(app, completions, options);
  await app.register(transcriptionRoutes, options);
  addTokenization(app, options);
  addRendering(app, options);
  addEmbeddings(app, options);
  addReranking(app, options);
  await app.register(responsesRoutes, options);
  const open = serverBatches(app, options);
  await app.register(fileRoutes, { open });
  addBatches(app, { open });
}
