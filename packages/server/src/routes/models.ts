// GET /v1/models and GET /v1/models/{id}.
import { ModelEntry, ModelList } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ModelRegistry } from "../models/registry.ts";
import type { Operation } from "../openapi/operation.ts";

const list: Operation = { summary: "The models that can be served", answers: { 200: ModelList } };
const entry: Operation = {
  summary: "One of the models",
  answers: { 200: ModelEntry },
  errors: ["model_not_found"],
  id: "An id of GET /v1/models; its slashes may be written as they are or as %2F.",
};

export async function modelRoutes(app: FastifyInstance, options: { registry: ModelRegistry }): Promise<void> {
  const { registry } = options;

  app.get("/v1/models", { config: { operation: list } }, async (): Promise<ModelList> => {
    await registry.refresh();
    return { object: "list", data: registry.list() };
  });

  // Ids of models hold slashes, written as they are or as %2F: everything after the last fixed part is the id.
  const config = { operation: entry };
  app.get<{ Params: { "*": string } }>("/v1/models/*", { config }, async (request): Promise<ModelEntry> => {
    await registry.refresh();
    return registry.describe(request.params["*"]);
  });
}
