// `client.requests`: manages the requests in flight on a server.
import type { KeptBodies, LiveRequest } from "@ingle/protocol";

import { hasText, isRecord } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** `client.events()` lists the requests. */
export interface Requests {
  /** Cancels a request: its client gets an error. Resolves with the request's new state. */
  cancel(id: string, options?: CallOptions): Promise<LiveRequest>;
  /** Sets whether the server keeps the bodies of requests and responses, in memory only. False deletes the kept ones. */
  keepBodies(keep: boolean, options?: CallOptions): Promise<KeptBodies>;
}

const isRequest = (value: unknown): value is LiveRequest => hasText(value, "id") && hasText(value, "status");
const isKept = (value: unknown): value is KeptBodies =>
  isRecord(value) && typeof value["keeps_bodies"] === "boolean";

export function createRequests(transport: Transport): Requests {
  const { post } = callsBelow(transport, "/api/v1/requests");
  return {
    cancel: (id, options = {}) => post("/cancel", { id }, options, isRequest),
    keepBodies: (keep, options = {}) => post("/bodies", { keep }, options, isKept),
  };
}
