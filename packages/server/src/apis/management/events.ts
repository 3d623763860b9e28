// GET /api/v1/events: a stream of what the server is doing.
import { setTimeout as sleep } from "node:timers/promises";
import { LiveEvent } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { dataEvent, sendEvents } from "../../http/event-stream.ts";
import type { ServerView } from "../../control/server-view.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import type { ChatFeed } from "../../chats/chat-feed.ts";
import type { LogRing } from "../../live/log-ring.ts";
import type { RequestBoard } from "../../live/request-board.ts";
import { FigureSampler } from "../../live/live-figures.ts";
import { toManagedModel } from "./managed-model.ts";
import { TimeLimit } from "../../signals.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { stateReader, type StateOptions } from "./state.ts";

const streamEvents = {
  path: "GET /api/v1/events",
  right: "management",
  summary: "Stream what the server is doing",
  description:
    "The first event is sent at once, then one whenever something changes. Log lines have events of their own.",
  responses: { 200: LiveEvent },
  event: LiveEvent,
} satisfies Route;

/** Interval at which the server is polled for changes. */
const intervalMs = 500;

interface EventsOptions extends StateOptions {
  view: ServerView;
  board: RequestBoard;
  logRing: LogRing;
  jobs: JobRunner | undefined;
  /** What pages hear of the app's chats; undefined where the browser keeps them. */
  chatFeed: ChatFeed | undefined;
  keepAliveMs: number;
}

export function addEvents(app: FastifyInstance, options: EventsOptions): void {
  const readState = stateReader(app, options);
  const { registry, view, jobs, board, logRing, chatFeed, keepAliveMs } = options;

  const snapshot = (sampler: FigureSampler): LiveEvent => ({
    type: "state",
    state: readState(),
    models: registry.slots.map(toManagedModel),
    jobs: jobs?.list() ?? [],
    server: view(),
    figures: sampler.sample(registry.stats(), {
      atMs: performance.now(),
      memoryBytes: registry.slots.reduce(
        (sum, { engine }) => sum + engine.processMemoryBytes,
        process.memoryUsage.rss(),
      ),
      cachedShare: board.cachedShare,
    }),
    requests: board.rows(),
    keeps_bodies: board.bodies.isOn,
  });

  addRoute(app, streamEvents, async (request, reply) => {
    const signal = AbortSignal.any([request.clientSignal, app.drainSignal]);
    const source = { refresh: () => registry.refresh(), snapshot, logRing };
    // Chats are the user's: only a page of this machine hears of them.
    const feed = request.isOfThisMachine ? chatFeed : undefined;
    return sendEvents(request, reply, changes(source, feed, signal), { keepAliveMs });
  });
}

interface ChangeSource {
  refresh: () => Promise<void>;
  snapshot: (sampler: FigureSampler) => LiveEvent;
  logRing: LogRing;
}

/** Yields the state whenever it changes, new log lines, and at once what happens to chats, until the signal aborts. */
async function* changes(
  { refresh, snapshot, logRing }: ChangeSource,
  feed: ChatFeed | undefined,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const sampler = new FigureSampler();
  let last = "";
  let line = 0;
  let chat = feed?.last ?? 0;
  while (!signal.aborted) {
    await refresh();
    const now = JSON.stringify(snapshot(sampler));
    if (now !== last) yield dataEvent(now);
    last = now;
    const lines = logRing.after(line);
    line = logRing.last;
    if (lines.length > 0) yield dataEvent(JSON.stringify({ type: "log", lines } satisfies LiveEvent));
    using limit = new TimeLimit(signal, intervalMs);
    const pause = limit.signal;
    while (!pause.aborted) {
      const events = feed?.after(chat) ?? [];
      chat = feed?.last ?? 0;
      if (events.length > 0) yield dataEvent(JSON.stringify({ type: "chats", events } satisfies LiveEvent));
      // Aborted: the loop condition ends the pause.
      else await (feed === undefined ? ended(pause) : feed.next(pause).catch(() => {}));
    }
  }
}

/** Resolves when the signal aborts. */
async function ended(signal: AbortSignal): Promise<void> {
  await sleep(intervalMs, undefined, { signal }).catch(() => {});
}
