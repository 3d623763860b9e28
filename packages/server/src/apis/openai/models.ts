// GET /v1/models and GET /v1/models/{id}. Anthropic's clients get them in Anthropic's format.
import {
  AnthropicErrorBody,
  anthropicErrorBody,
  AnthropicModel,
  AnthropicModelList,
  ErrorBody,
  ModelEntry,
  ModelList,
  modelsPageMax,
  ModelsQuery,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { ModelRegistry } from "../../models/registry.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const formatNote = "Requests with an anthropic-version header get Anthropic's format.";

const errorBody = z.union([ErrorBody, AnthropicErrorBody]);

const list = {
  path: "GET /v1/models",
  right: "inference",
  query: ModelsQuery,
  summary: "List the models that can be served",
  description: formatNote,
  responses: { 200: z.union([ModelList, AnthropicModelList]) },
  errorBody,
  errorShape,
} satisfies Route;
// Model ids contain slashes, written as they are or as %2F: everything after the last fixed part is the id.
const entry = {
  path: "GET /v1/models/*",
  right: "inference",
  summary: "Get one model",
  description: formatNote,
  responses: { 200: z.union([ModelEntry, AnthropicModel]) },
  errors: ["model_not_found"],
  errorBody,
  errorShape,
  id: "An id that GET /v1/models lists, or an alias; slashes may be written as they are or as %2F.",
} satisfies Route;

export function addModels(app: FastifyInstance, { registry }: { registry: ModelRegistry }): void {
  addRoute(app, list, async (request) => {
    await registry.refresh();
    const data = registry.list(request.mayUse);
    if (isAnthropic(request)) return toAnthropicList(data, request.query);
    const isCodex = request.query.client_version !== undefined;
    return { object: "list", data, ...(isCodex ? { models: [] } : {}) } satisfies ModelList;
  });
  addRoute(app, entry, async (request) => {
    await registry.refresh();
    const model = registry.describe(request.params["*"], request.mayUse);
    return isAnthropic(request) ? toAnthropicModel(model) : model;
  });
}

function errorShape(error: ErrorBody, request: Pick<FastifyRequest, "id" | "headers">): object {
  return isAnthropic(request) ? anthropicErrorBody(error, request.id) : error;
}

function isAnthropic({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return headers["anthropic-version"] !== undefined;
}

function toAnthropicModel({ id, created, context_length }: ModelEntry): AnthropicModel {
  return {
    type: "model",
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: context_length,
    max_tokens: context_length,
  };
}

/** The requested page. It is empty if the model that it should follow or precede is unknown. */
function toAnthropicList(
  entries: readonly ModelEntry[],
  { limit = modelsPageMax, after_id: after, before_id: before }: ModelsQuery,
): AnthropicModelList {
  const findPlace = (id: string): number => entries.findIndex((each) => each.id === id);
  const behind = after === undefined ? 0 : findPlace(after) + 1;
  const begin = after === undefined || behind > 0 ? behind : entries.length;
  const end = before === undefined ? entries.length : Math.max(0, findPlace(before));
  const wanted = entries.slice(begin, end);
  const page = before === undefined ? wanted.slice(0, limit) : wanted.slice(-limit);
  return {
    data: page.map(toAnthropicModel),
    has_more: page.length < wanted.length,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
