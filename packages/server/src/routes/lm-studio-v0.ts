// LM Studio's API v0 without the completions: GET /api/v0/models, GET /api/v0/models/{id} and POST /api/v0/embeddings.
import { LmStudioModel, LmStudioModels } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { InferenceOptions } from "../protocols/inference.ts";
import { toLmStudioModel } from "../protocols/lm-studio/model-entry.ts";
import { addRoute, type Route } from "./add-route.ts";
import { addEmbeddings, embeddings } from "./embeddings.ts";

const list = {
  path: "GET /api/v0/models",
  right: "inference",
  summary: "List every known model in LM Studio's form",
  responses: { 200: LmStudioModels },
} satisfies Route;
const entry = {
  path: "GET /api/v0/models/*",
  right: "inference",
  summary: "Get one model in LM Studio's form",
  responses: { 200: LmStudioModel },
  errors: ["model_not_found"],
  id: "A model's id or alias; slashes may be written as they are or as %2F.",
} satisfies Route;

export async function lmStudioV0Routes(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): Promise<void> {
  const { registry } = options;
  addRoute(app, list, async (): Promise<LmStudioModels> => {
    await registry.refresh();
    return { object: "list", data: registry.slots.map(toLmStudioModel) };
  });
  addRoute(app, entry, async ({ params }) => {
    await registry.refresh();
    return toLmStudioModel(await registry.known(params["*"]));
  });
  addEmbeddings(app, { ...embeddings, path: "POST /api/v0/embeddings" }, options);
}
