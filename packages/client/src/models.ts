// `client.models`: the models that the server can serve.
import type { ModelEntry, ModelList } from "@ingle/protocol";

import { isRecord } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface Models {
  /** All models; use an entry's `id` as the `model` of a request. */
  list(options?: CallOptions): Promise<ModelList>;
  /** One model by its id; rejects with an `ApiError` of code `model_not_found` if there is none. */
  retrieve(id: string, options?: CallOptions): Promise<ModelEntry>;
}

function isModelEntry(value: unknown): value is ModelEntry {
  return isRecord(value) && typeof value["id"] === "string";
}

function isModelList(value: unknown): value is ModelList {
  return isRecord(value) && Array.isArray(value["data"]) && value["data"].every(isModelEntry);
}

export function createModels(transport: Transport): Models {
  return {
    list: ({ signal } = {}) => transport.json({ method: "GET", path: "/v1/models", signal }, isModelList),
    retrieve: (id, { signal } = {}) =>
      // An id may contain slashes, but it is one segment of the path.
      transport.json({ method: "GET", path: `/v1/models/${encodeURIComponent(id)}`, signal }, isModelEntry),
  };
}
