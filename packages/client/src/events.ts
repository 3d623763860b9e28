// `client.events()`: the live state of a server.
import type { LiveEvent } from "@ingle/protocol";

import { hasText } from "./answer.ts";
import { ReplyStream } from "./reply-stream.ts";
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
