// `client.events()` and `client.requests`: the live state of a server, and managing its requests in flight.
import type { KeptBodies, LiveEvent, LiveRequest } from "@ingle/protocol";

import { callsBelow } from "./calls.ts";
import { ReplyStream } from "./reply-stream.ts";
import { hasText, isRecord } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

/**
 * Opens the stream. Its first event has the complete state. The stream never ends by itself: if the server goes away, the loop
 * throws a `StreamError` or `ConnectionError`; call this again to reconnect.
 */
export type Events = (options?: CallOptions) => Promise<LiveEventStream>;

/** The events of a server; see `ReplyStream` for reading and leaving it. */
export class LiveEventStream extends ReplyStream<LiveEvent> {
  protected override toEvent(data: unknown): LiveEvent | undefined {
    return isLiveEvent(data) ? data : undefined;
  }

  protected override keep(): void {
    // Events are independent of each other.
  }
}

function isLiveEvent(value: unknown): value is LiveEvent {
  return hasText(value, "type");
}

export function createEvents(transport: Transport): Events {
  return async ({ signal } = {}) =>
    new LiveEventStream(await transport.stream({ method: "GET", path: "/api/v1/events", signal }));
}

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
