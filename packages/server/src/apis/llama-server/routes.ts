// llama-server's API: its own routes. aliases.ts has those of /v1 that it serves without that prefix too.
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { addAdapters } from "./adapters.ts";
import { llamaServerCompletion } from "./completion.ts";
import { addEmbeddings } from "./embeddings.ts";
import { llamaServerInfill } from "./infill.ts";
import { addModels } from "./models.ts";
import { addSlots } from "./slots.ts";
import { addTokens } from "./tokens.ts";

export async function llamaServerApi(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  addGenerationRoute(app, llamaServerCompletion, options);
  addGenerationRoute(app, llamaServerInfill, options);
  addModels(app, options);
  addTokens(app, options);
  addSlots(app, options);
  addEmbeddings(app, options);
  addAdapters(app, options);
}
