// /v1/batches: the requests of a file, computed when nothing else is to do.
import { Batch, batchesPageDefault, BatchesQuery, BatchList, BatchRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { addRoute, type Route } from "../../../http/add-route.ts";
import { toList } from "./list.ts";
import type { OpenBatches } from "./server-batches.ts";

const ofBatches = {
  right: "inference",
  namesNoModel: true,
  errors: ["not_enabled", "disk_full"],
} as const satisfies Partial<Route>;
const ofBatch = {
  ...ofBatches,
  errors: [...ofBatches.errors, "not_found"],
  id: "The id of a batch.",
} as const satisfies Partial<Route>;

const create = {
  path: "POST /v1/batches",
  ...ofBatches,
  errors: [...ofBatches.errors, "not_found", "overloaded"],
  body: BatchRequest,
  summary: "Compute the requests of a file when nothing else is to do",
  responses: { 200: Batch },
  example: { input_file_id: "file-1234", endpoint: "/v1/chat/completions", completion_window: "24h" },
} satisfies Route;
const list = {
  path: "GET /v1/batches",
  ...ofBatches,
  query: BatchesQuery,
  summary: "The batches of this key, newest first",
  responses: { 200: BatchList },
} satisfies Route;
const retrieve = {
  path: "GET /v1/batches/:id",
  ...ofBatch,
  summary: "A batch and its progress",
  responses: { 200: Batch },
} satisfies Route;
const cancel = {
  path: "POST /v1/batches/:id/cancel",
  ...ofBatch,
  summary: "Cancel a batch; its results so far are kept",
  responses: { 200: Batch },
} satisfies Route;

export function addBatches(app: FastifyInstance, { open }: { open: OpenBatches }): void {
  addRoute(app, create, async (request) => {
    const batches = await open();
    const { key, owner } = request;
    const sender = { digest: key?.digest ?? null, name: key?.name ?? null };
    return batches.create(request.body, { owner, sender });
  });

  addRoute(app, list, async (request): Promise<BatchList> => {
    const batches = await open();
    const { limit = batchesPageDefault, after } = request.query;
    return toList(batches.list(request.owner, { limit, after, isNewestFirst: true }));
  });

  addRoute(app, retrieve, async (request) => {
    const batches = await open();
    return batches.find(request.params.id, request.owner);
  });

  addRoute(app, cancel, async (request) => {
    const batches = await open();
    return batches.cancel(request.params.id, request.owner);
  });
}
