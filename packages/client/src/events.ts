// `client.events()`: what a server is doing, as it happens.
import type { LiveEvent } from "@ingle/protocol";

import { hasText } from "./answer.ts";
import { ReplyStream } from "./reply-stream.ts";
import type { CallOptions, Transport } from "./transport.ts";

/**
 * Opens the stream. Its first event has the whole state. It has no end of its own: when the server goes away, the loop ends
 * in a `StreamError` or `ConnectionError`, and whoever wants more opens another one.
 */
export type Events = (options?: CallOptions) => Promise<LiveEventStream>;

/** The events of a server; see `ReplyStream` for how it is read and left. */
export class LiveEventStream extends ReplyStream<LiveEvent> {
  protected override toEvent(data: unknown): LiveEvent | undefined {
    return isLiveEvent(data) ? data : undefined;
  }

  protected override keep(): void {
    // Each event stands for itself.
  }
}

function isLiveEvent(value: unknown): value is LiveEvent {
  return hasText(value, "type");
}

/** Makes `client.events`. */
export function createEvents(transport: Transport): Events {
  return async ({ signal } = {}) =>
    new LiveEventStream(await transport.stream({ method: "GET", path: "/api/v1/events", signal }));
}
