// The events of a streamed response. A complete response is the one in the last event.
import type { Generation } from "@ingle/engine";
import type {
  ErrorBody,
  ResponseObject,
  ResponsesEvent,
  ResponsesOutputItem,
  WireErrorCode,
} from "@ingle/protocol";
import { namedEvent } from "../../../http/event-stream.ts";
import { toUnixSeconds } from "../../../seconds.ts";
import { OutputItems, type FindTool, type UnnumberedEvent } from "./output-items.ts";
import { toFinished, toResponseError, toUnfinished, type ResponseBase } from "./response.ts";

export interface ResponseStream {
  /** The events in order; returns the complete response. Throws what the generation throws. */
  events: AsyncGenerator<ResponsesEvent, ResponseObject, undefined>;
  /** The last events of a response that ended with an error. */
  failure: (error: ErrorBody["error"]) => ResponsesEvent[];
}

interface ResponseStreamOptions {
  now: () => Date;
  newId: () => string;
  findTool: FindTool;
  /** Called with the finished response, before the last event. Default: nothing is called. */
  keep?: ((response: ResponseObject) => void) | undefined;
}

/**
 * The first event comes with the first token; before it, an error is an HTTP error. In the background, it comes at once and every
 * error is an event.
 */
export function toEvents(
  base: ResponseBase,
  generation: Generation,
  { now, newId, findTool, keep }: ResponseStreamOptions,
): ResponseStream {
  const output = new OutputItems(newId, findTool);
  let count = 0;
  let isBegun = false;
  const numbered = (event: UnnumberedEvent): ResponsesEvent => ({ ...event, sequence_number: count++ });

  function* queued(): Generator<ResponsesEvent, void, undefined> {
    const response = toUnfinished(base, { status: "queued", output: [] });
    yield numbered({ type: "response.created", response });
    yield numbered({ type: "response.queued", response });
  }

  function* opening(): Generator<ResponsesEvent, void, undefined> {
    if (isBegun) return;
    isBegun = true;
    const response = toUnfinished(base, { status: "in_progress", output: [] });
    if (count === 0) yield numbered({ type: "response.created", response });
    yield numbered({ type: "response.in_progress", response });
  }

  async function* events(): ResponseStream["events"] {
    if (base.background) yield* queued();
    for await (const piece of generation) {
      yield* opening();
      for (const event of output.add(piece)) yield numbered(event);
    }
    const result = await generation;
    yield* opening();
    for (const event of output.finish(result.finishReason === "length")) yield numbered(event);
    const completedAt = toUnixSeconds(now());
    const response = toFinished(base, result, { output: [...output.items], completedAt });
    keep?.(response);
    const isComplete = response.status === "completed";
    yield numbered({ type: isComplete ? "response.completed" : "response.incomplete", response });
    return response;
  }

  return {
    events: events(),
    failure: (error) => {
      const { code, message, param } = error;
      const last: UnnumberedEvent = { type: "error", code, message, param, error };
      // Clients ignore events that come before `response.created`.
      if (count === 0) return [numbered(last)];
      const isCancelled = base.background && code === wireCancelled;
      const response = toUnfinished(base, {
        status: isCancelled ? "cancelled" : "failed",
        output: output.items.map(asIncomplete),
        error: isCancelled ? null : toResponseError(error),
      });
      return [numbered({ type: "response.failed", response }), numbered(last)];
    },
  };
}

/** The code of an error that cancels a response. */
const wireCancelled: WireErrorCode = "cancelled";

function asIncomplete(item: ResponsesOutputItem): ResponsesOutputItem {
  return item.status === "in_progress" ? { ...item, status: "incomplete" } : item;
}

/** Resolves with the complete response. Throws what the generation throws. */
export async function wholeResponse({ events }: ResponseStream): Promise<ResponseObject> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
  }
}

/** The events as text. */
export async function* written({ events }: ResponseStream): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield toText(event);
}

/** The type is also the event's name. */
export function toText(event: ResponsesEvent): string {
  return namedEvent(event.type, JSON.stringify(event));
}
