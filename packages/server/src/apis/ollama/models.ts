// Ollama's routes about models: GET /api/tags, /api/ps and /api/version, POST /api/show and /api/pull, DELETE /api/delete.
import {
  OllamaDeleteRequest,
  OllamaError,
  OllamaModelInfo,
  OllamaModels,
  OllamaProgress,
  OllamaPullRequest,
  OllamaRunningModels,
  OllamaShowRequest,
  OllamaVersion,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { sendEvents } from "../../http/event-stream.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import { noLibrary } from "../../models/model-errors.ts";
import { isInMemory, takesMemory } from "../../models/slot/model-state.ts";
import type { ModelLibrary } from "../../models/library/model-library.ts";
import { ollamaConventions, ollamaErrorLine, ollamaStreaming, toModelName } from "./conventions.ts";
import { toModelInfo, toOllamaModel, toRunningModel } from "./model-entry.ts";
import { progressLines, followPull } from "./pull.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

/**
 * The version of Ollama whose API this is: clients require one of at least a certain version (Codex: 0.13.4). Later ones have routes
 * that the server does not have: `/v1/systemone` since 0.35, speech since 0.40.
 */
const ollamaVersion = "0.31.0";

const conventions = { ...ollamaConventions, errorBody: OllamaError };

const tags = {
  ...conventions,
  path: "GET /api/tags",
  right: "inference",
  summary: "List the models in Ollama's form",
  responses: { 200: OllamaModels },
} satisfies Route;
const running = {
  ...conventions,
  path: "GET /api/ps",
  right: "inference",
  summary: "List the models in memory in Ollama's form",
  responses: { 200: OllamaRunningModels },
} satisfies Route;
const version = {
  ...conventions,
  path: "GET /api/version",
  right: "inference",
  summary: "The version of Ollama whose API this is",
  responses: { 200: OllamaVersion },
} satisfies Route;
const show = {
  ...conventions,
  path: "POST /api/show",
  right: "inference",
  body: OllamaShowRequest,
  summary: "Describe a model in Ollama's form",
  responses: { 200: OllamaModelInfo },
  errors: ["model_not_found"],
  example: {},
} satisfies Route;
const pull = {
  ...conventions,
  path: "POST /api/pull",
  right: "management",
  body: OllamaPullRequest,
  summary: "Download a model, with progress in Ollama's form",
  description: "A job of /api/v1/jobs; it is paused when the client that began it disconnects.",
  responses: { 200: OllamaProgress },
  event: OllamaProgress,
  errors: ["not_found", "overloaded", "engine_failed", "shutting_down"],
  example: {},
} satisfies Route;
const remove = {
  ...conventions,
  path: "DELETE /api/delete",
  right: "management",
  body: OllamaDeleteRequest,
  summary: "Remove a model that no request uses",
  responses: { 200: z.object({}) },
  errors: ["not_found", "model_not_found", "engine_failed"],
  example: {},
} satisfies Route;

export interface OllamaModelOptions extends Pick<InferenceOptions, "registry" | "now"> {
  library: ModelLibrary | undefined;
  jobs: JobRunner | undefined;
}

export function addModels(app: FastifyInstance, options: OllamaModelOptions): void {
  const { registry, now } = options;

  addRoute(app, tags, async ({ mayUse }): Promise<OllamaModels> => {
    await registry.refresh();
    return { models: registry.slots.filter(mayUse).map(toOllamaModel) };
  });
  addRoute(app, running, async ({ mayUse }): Promise<OllamaRunningModels> => {
    const loaded = registry.slots.filter((slot) => isInMemory(slot.state) && mayUse(slot));
    return { models: loaded.map((slot) => toRunningModel(slot, now())) };
  });
  addRoute(app, version, async (): Promise<OllamaVersion> => ({ version: ollamaVersion }));
  addRoute(app, show, async ({ body, mayUse }) => toModelInfo(await registry.known(nameIn(body), mayUse)));
  addRoute(app, pull, async (request, reply) => {
    const { jobs } = options;
    if (jobs === undefined) throw noLibrary();
    const progress = followPull(jobs, nameIn(request.body), request.clientSignal);
    if (request.body.stream ?? true)
      return sendEvents(request, reply, progressLines(progress), {
        keepAliveMs: undefined,
        contentType: ollamaStreaming.contentType,
        toErrorEvents: ollamaErrorLine,
      });
    let last: OllamaProgress = { status: "success" };
    for await (const each of progress) last = each;
    return last;
  });
  addRoute(app, remove, async ({ body, clientSignal: signal }) => {
    const { library } = options;
    if (library === undefined) throw noLibrary();
    const slot = await registry.known(nameIn(body));
    // As in Ollama, a model in memory is unloaded first; if it is in use, this waits for its requests.
    if (takesMemory(slot.state) || slot.state.kind === "preparing")
      await registry.unload(slot.id, { signal });
    await library.remove(slot.id, { signal });
    await registry.refresh({ isNeeded: true });
    return {};
  });
}

function nameIn({ model, name }: Pick<OllamaShowRequest, "model" | "name">): string {
  return toModelName(model ?? name ?? "");
}
