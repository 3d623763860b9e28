// GET /api/v0/models and GET /api/v0/models/{id}.
import { LmStudioModel, LmStudioModels } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { InferenceOptions } from "../../../generation/inference.ts";
import { toLmStudioModel } from "../model-entry.ts";
import { addRoute, type Route } from "../../../http/add-route.ts";

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

export function addListedModels(
  app: FastifyInstance,
  { registry }: Pick<InferenceOptions, "registry">,
): void {
  addRoute(app, list, async ({ mayUse }): Promise<LmStudioModels> => {
    await registry.refresh();
    return { object: "list", data: registry.slots.filter(mayUse).map(toLmStudioModel) };
  });
  addRoute(app, entry, async ({ params, mayUse }) => {
    await registry.refresh();
    return toLmStudioModel(await registry.known(params["*"], mayUse));
  });
}
