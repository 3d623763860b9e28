// A model on its way to the server's disk: how far it is, event by event. Made by library.ts.
import type { PullEvent } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { StreamError } from "./errors.ts";
import { ReplyStream } from "./reply-stream.ts";

/**
 * The events of a pull; see `ReplyStream` for how it is read and left. Leaving it ends the download; the next pull goes on
 * where this one stood.
 */
export class PullStream extends ReplyStream<PullEvent> {
  #last: PullEvent | undefined;

  /** The last event, `done`, with the id of the model that is there now. Reads the pull to its end when nobody else does. */
  async finalEvent(): Promise<PullEvent> {
    await this.untilWhole();
    if (this.#last?.status === "done") return this.#last;
    throw new StreamError("the pull ended without its model", "stream_incomplete", null);
  }

  protected override toEvent(data: unknown): PullEvent | undefined {
    return isPullEvent(data) ? data : undefined;
  }

  protected override keep(event: PullEvent): void {
    this.#last = event;
  }
}

function isPullEvent(value: unknown): value is PullEvent {
  return isRecord(value) && typeof value["status"] === "string" && typeof value["model"] === "string";
}
