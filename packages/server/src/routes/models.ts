// GET /v1/models and GET /v1/models/{id}.
import type { ModelEntry, ModelList } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ModelRegistry } from "../models/registry.ts";

export async function modelRoutes(app: FastifyInstance, options: { registry: ModelRegistry }): Promise<void> {
  const { registry } = options;

  app.get("/v1/models", async (): Promise<ModelList> => ({ object: "list", data: registry.list() }));

  // Ids of models hold slashes, written as they are or as %2F: everything after the last fixed part is the id.
  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request): Promise<ModelEntry> =>
    registry.describe(request.params["*"]),
  );
}
