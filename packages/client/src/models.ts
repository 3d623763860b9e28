// `client.models`: what the server can serve.
import type { ModelEntry, ModelList } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The models of a server. */
export interface Models {
  /** All that can be served; an entry's `id` is what a request's `model` names. */
  list(options?: CallOptions): Promise<ModelList>;
  /** One by its id; rejects with an `ApiError` of code `model_not_found` when there is none. */
  retrieve(id: string, options?: CallOptions): Promise<ModelEntry>;
}

function isModelEntry(value: unknown): value is ModelEntry {
  return isRecord(value) && typeof value["id"] === "string";
}

function isModelList(value: unknown): value is ModelList {
  return isRecord(value) && Array.isArray(value["data"]) && value["data"].every(isModelEntry);
}

/** Makes `client.models`. */
export function createModels(transport: Transport): Models {
  return {
    list: ({ signal } = {}) => transport.json({ method: "GET", path: "/v1/models", signal }, isModelList),
    retrieve: (id, { signal } = {}) =>
      // An id may hold slashes and is one segment of the path all the same.
      transport.json({ method: "GET", path: `/v1/models/${encodeURIComponent(id)}`, signal }, isModelEntry),
  };
}
