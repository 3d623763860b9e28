// Stores responses: when they are finished, or from the beginning if they are generated in the background, where the work
// continues after the HTTP response.
import type { ResponseObject } from "@ingle/protocol";
import { shuttingDown } from "../../../models/model-errors.ts";
import type { GenerationResponse, RunningRequest } from "../../../generation/generation-route.ts";
import { BackgroundResponse } from "./background-response.ts";
import { toEvents, type ResponseStream } from "./events.ts";
import type { ContinuedRequest, StoredResponses } from "./stored-responses.ts";
import { toUnfinished, type ResponseBase } from "./response.ts";
import { toStoredItems } from "./stored-items.ts";
import { toolFinder } from "./tools.ts";

type Running = RunningRequest<ContinuedRequest>;

/** Stores the current state of one response; once finished, it is also added to its conversation. */
type Keep = (response: ResponseObject, events?: readonly string[]) => void;

export function responseKeeper({ body, request, newId }: Running, stored: StoredResponses): Keep {
  const owner = request.owner;
  const { earlier, conversation } = body;
  const own = toStoredItems(body.input, { newId, others: earlier });
  const input = [...earlier, ...own];
  return (response, events) => {
    const isFinished = response.status === "completed" || response.status === "incomplete";
    if (conversation !== undefined && isFinished)
      stored.conversations.add(conversation, owner, [...own, ...response.output]);
    if (stored.keeps(body))
      stored.put({ response, input, ...(events === undefined ? {} : { events }) }, owner);
  };
}

/** Responds at once, or with the events as they come; neither delays the generation. */
export function respondInBackground(
  running: Running,
  { base, stored }: { base: ResponseBase; stored: StoredResponses },
): GenerationResponse {
  const { body, generation, request, now, newId } = running;
  const findTool = toolFinder(body.tools);
  const keep = responseKeeper(running, stored);
  const queued = toUnfinished(base, { status: "queued", output: [] });
  keep(queued);
  const background = new BackgroundResponse(queued, {
    owner: request.owner,
    cancel: (reason) => request.cancel(reason),
  });
  void stored.follow(background); // never rejects
  void generate(background, toEvents(base, generation, { now, newId, findTool }), { request, keep }); // never rejects
  return { whole: async () => queued, events: () => background.from(0) };
}

/**
 * Reads the stream to its end, whether or not others read it. Never rejects: an error is an event, and is in the request's log
 * line.
 */
async function generate(
  background: BackgroundResponse,
  stream: ResponseStream,
  { request, keep }: Pick<Running, "request"> & { keep: Keep },
): Promise<void> {
  const endRequest = request.outliveReply();
  const { drainSignal } = request.server;
  const stop = (): void => background.cancel(shuttingDown());
  drainSignal.addEventListener("abort", stop, { once: true });
  try {
    for await (const event of stream.events) background.add(event);
  } catch (error) {
    for (const event of stream.failure(request.failWith(error).error)) background.add(event);
  }
  try {
    keep(background.response, background.events);
  } catch (error) {
    request.failWith(error);
  }
  drainSignal.removeEventListener("abort", stop);
  background.end();
  endRequest();
}
