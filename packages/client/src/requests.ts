// `client.requests`: orders about the requests that a server is working on.
import type { KeptBodies, LiveRequest } from "@ingle/protocol";

import { hasText, isRecord } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The requests of a server; `client.events()` tells which there are. */
export interface Requests {
  /** Ends a request: its client gets an error. Resolves with the request as it is then. */
  cancel(id: string, options?: CallOptions): Promise<LiveRequest>;
  /** Whether the bodies of requests and answers are kept, in the server's memory alone. False forgets those that are there. */
  keepBodies(keep: boolean, options?: CallOptions): Promise<KeptBodies>;
}

const isRequest = (value: unknown): value is LiveRequest => hasText(value, "id") && hasText(value, "status");
const isKept = (value: unknown): value is KeptBodies =>
  isRecord(value) && typeof value["keeps_bodies"] === "boolean";

/** Makes `client.requests`. */
export function createRequests(transport: Transport): Requests {
  const { order } = callsBelow(transport, "/api/v1/requests");
  return {
    cancel: (id, options = {}) => order("/cancel", { id }, options, isRequest),
    keepBodies: (keep, options = {}) => order("/bodies", { keep }, options, isKept),
  };
}
