// The models of a running server, for LM Studio's clients and ours: GET /api/v1/models, POST /api/v1/models/load and …/unload;
// and only for LM Studio's: POST /api/v1/models/download and GET /api/v1/models/download/status/{id}.
import {
  LmStudioDownload,
  LmStudioDownloadRequest,
  LmStudioError,
  LmStudioLoadedModel,
  LmStudioLoadRequest,
  LmStudioManagedModelList,
  LmStudioUnloadedModel,
  LmStudioUnloadRequest,
  type LoadRequest,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { JobRunner } from "../../../jobs/job-runner.ts";
import { toManagedModel } from "../../management/managed-model.ts";
import { noLibrary } from "../../../models/model-errors.ts";
import type { ModelRegistry } from "../../../models/registry.ts";
import { findDownload, startDownload, toPullName } from "./download.ts";
import { toLmStudioError } from "../conventions.ts";
import { toLoadConfig, toListedModel, modelType } from "../model-entry.ts";
import { addRoute, type Route } from "../../../http/add-route.ts";
import {
  listModels,
  listRoute,
  loadAsRequested,
  loadRoute,
  unloadAsRequested,
  unloadRoute,
} from "../../management/models.ts";

const list = { ...listRoute, responses: { 200: LmStudioManagedModelList } } satisfies Route;
const load = {
  ...loadRoute,
  body: LmStudioLoadRequest,
  responses: { 200: LmStudioLoadedModel },
} satisfies Route;
const unload = {
  ...unloadRoute,
  body: LmStudioUnloadRequest,
  responses: { 200: LmStudioUnloadedModel },
} satisfies Route;
const conventions = { right: "management", errorShape: toLmStudioError, errorBody: LmStudioError } as const;
const download = {
  ...conventions,
  path: "POST /api/v1/models/download",
  body: LmStudioDownloadRequest,
  summary: "Download a model in the background",
  responses: { 200: LmStudioDownload },
  errors: ["not_found", "overloaded", "shutting_down"],
  example: {},
} satisfies Route;
const downloadStatus = {
  ...conventions,
  path: "GET /api/v1/models/download/status/*",
  summary: "Get the progress of a download",
  responses: { 200: LmStudioDownload },
  errors: ["not_found"],
  id: "The job_id of a download.",
} satisfies Route;

export interface LmStudioModelOptions {
  registry: ModelRegistry;
  /** Absent: this server manages no library. */
  jobs: JobRunner | undefined;
}

export function addManagedModels(app: FastifyInstance, options: LmStudioModelOptions): void {
  const { registry } = options;
  const jobs = (): JobRunner => {
    if (options.jobs !== undefined) return options.jobs;
    throw noLibrary();
  };

  addRoute(app, list, async ({ mayUse }): Promise<LmStudioManagedModelList> => ({
    ...(await listModels(registry, mayUse)),
    models: registry.slots.filter(mayUse).map(toListedModel),
  }));
  addRoute(app, load, async (request): Promise<LmStudioLoadedModel> => {
    const { body } = request;
    const startedAt = performance.now();
    const slot = await loadAsRequested(registry, request, toLoadRequest(body));
    const { wait = true, echo_load_config: echoes = false } = body;
    return {
      ...toManagedModel(slot),
      type: modelType(slot),
      instance_id: slot.id,
      ...(wait ? { load_time_seconds: (performance.now() - startedAt) / 1000 } : {}),
      ...(wait && echoes ? { load_config: toLoadConfig(slot) } : {}),
    };
  });
  addRoute(app, unload, async (request): Promise<LmStudioUnloadedModel> => {
    const { model, instance_id: instance, wait } = request.body;
    const slot = await unloadAsRequested(registry, request, { model: model ?? instance ?? "", wait });
    return { ...toManagedModel(slot), instance_id: slot.id };
  });
  addRoute(app, download, async ({ body, clientSignal }) =>
    startDownload({ jobs: jobs(), registry }, toPullName(body), clientSignal),
  );
  addRoute(app, downloadStatus, async ({ params }) => findDownload(jobs(), params["*"]));
}

/** Our names for LM Studio's fields; if a request has both, ours count. */
function toLoadRequest({
  eval_batch_size: batchSize,
  flash_attention: flashAttention,
  offload_kv_cache_to_gpu: kvOffload,
  ...body
}: LmStudioLoadRequest): LoadRequest {
  const flashAttn = flashAttention === undefined ? undefined : flashAttention ? "on" : "off";
  return {
    ...body,
    batch_size: body.batch_size ?? batchSize,
    flash_attn: body.flash_attn ?? flashAttn,
    kv_offload: body.kv_offload ?? kvOffload,
  };
}
