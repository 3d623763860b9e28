// A running generation as the events of a streamed reply of /v1/responses; the answer in one piece is what the last of
// them holds. Used by routes/responses.ts.
import type { Generation } from "@ingle/engine";
import type { ErrorBody, ResponseObject, ResponsesEvent, ResponsesOutputItem } from "@ingle/protocol";
import { namedEvent } from "../../http/event-stream.ts";
import { OutputItems, type UnnumberedEvent } from "./output-items.ts";
import { toFinished, toResponseError, toUnfinished, type ResponseHead } from "./response.ts";

export interface ResponseStream {
  /** In order; returns the whole reply. Throws what the generation throws. */
  events: AsyncGenerator<ResponsesEvent, ResponseObject, undefined>;
  /** The last events of a reply that was ended by an error. */
  failure: (error: ErrorBody["error"]) => ResponsesEvent[];
}

export interface ResponseStreamOptions {
  now: () => Date;
  newId: () => string;
}

/** The first event comes with the first piece: until then an error is an HTTP error. */
export function toEvents(
  head: ResponseHead,
  generation: Generation,
  { now, newId }: ResponseStreamOptions,
): ResponseStream {
  const output = new OutputItems(newId);
  let count = 0;
  const numbered = (event: UnnumberedEvent): ResponsesEvent => ({ ...event, sequence_number: count++ });

  function* opening(): Generator<ResponsesEvent, void, undefined> {
    if (count > 0) return;
    const response = toUnfinished(head, { status: "in_progress", output: [] });
    yield numbered({ type: "response.created", response });
    yield numbered({ type: "response.in_progress", response });
  }

  async function* events(): ResponseStream["events"] {
    for await (const piece of generation) {
      yield* opening();
      for (const event of output.add(piece)) yield numbered(event);
    }
    const result = await generation;
    yield* opening();
    for (const event of output.finish(result.finishReason === "length")) yield numbered(event);
    const completedAt = toUnixSeconds(now());
    const response = toFinished(head, result, { output: [...output.items], completedAt });
    const isWhole = response.status === "completed";
    yield numbered({ type: isWhole ? "response.completed" : "response.incomplete", response });
    return response;
  }

  return {
    events: events(),
    failure: (error) => {
      const { code, message, param } = error;
      const last: UnnumberedEvent = { type: "error", code, message, param, error };
      // Clients take events of a reply only after the one that tells of its creation.
      if (count === 0) return [numbered(last)];
      const response = toUnfinished(head, {
        status: "failed",
        output: output.items.map(asBroken),
        error: toResponseError(error),
      });
      return [numbered({ type: "response.failed", response }), numbered(last)];
    },
  };
}

function asBroken(item: ResponsesOutputItem): ResponsesOutputItem {
  return item.status === "in_progress" ? { ...item, status: "incomplete" } : item;
}

export function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** The reply when all of it is there. Throws what the generation throws. */
export async function wholeResponse({ events }: ResponseStream): Promise<ResponseObject> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
  }
}

/** The events as they are sent. */
export async function* written({ events }: ResponseStream): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield toText(event);
}

/** The event as it is sent: its name stands before its data, too. */
export function toText(event: ResponsesEvent): string {
  return namedEvent(event.type, JSON.stringify(event));
}
