// GET /api/v1/events: a stream of what the server is doing.
import { setTimeout as sleep } from "node:timers/promises";
import { LiveEvent } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { dataEvent, sendEvents } from "../http/event-stream.ts";
import type { ServerView } from "../control/server-view.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { LogRing } from "../live/log-ring.ts";
import type { RequestBoard } from "../live/request-board.ts";
import { FigureSampler } from "../live/live-figures.ts";
import { toManagedModel } from "../models/managed-model.ts";
import { addRoute, type Route } from "./add-route.ts";
import { stateReader, type ControlOptions } from "./control.ts";

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

export interface EventsOptions extends ControlOptions {
  view: ServerView;
  board: RequestBoard;
  logRing: LogRing;
  jobs: JobRunner | undefined;
  keepAliveMs: number;
}

export async function eventRoutes(app: FastifyInstance, options: EventsOptions): Promise<void> {
  const readState = stateReader(app, options);
  const { registry, view, jobs, board, logRing, keepAliveMs } = options;

  const snapshot = (sampler: FigureSampler): LiveEvent => ({
    type: "state",
    state: readState(),
    models: registry.slots.map(toManagedModel),
    jobs: jobs?.list() ?? [],
    server: view(),
    figures: sampler.sample(registry.stats(), {
      atMs: performance.now(),
      memoryBytes: registry.slots.reduce(
        (sum, { processMemoryBytes }) => sum + processMemoryBytes,
        process.memoryUsage.rss(),
      ),
      cachedShare: board.cachedShare,
    }),
    requests: board.rows(),
    keeps_bodies: board.bodies.isOn,
  });

  addRoute(app, streamEvents, async (request, reply) => {
    const signal = AbortSignal.any([request.clientSignal, app.drainSignal]);
    const events = changes({ refresh: () => registry.refresh(), snapshot, logRing }, signal);
    return sendEvents(request, reply, events, { keepAliveMs });
  });
}

interface ChangeSource {
  refresh: () => Promise<void>;
  snapshot: (sampler: FigureSampler) => LiveEvent;
  logRing: LogRing;
}

/** Yields the state whenever it changes, and new log lines, until the signal aborts. */
async function* changes(
  { refresh, snapshot, logRing }: ChangeSource,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const sampler = new FigureSampler();
  let last = "";
  let line = 0;
  while (!signal.aborted) {
    await refresh();
    const now = JSON.stringify(snapshot(sampler));
    if (now !== last) yield dataEvent(now);
    last = now;
    const lines = logRing.after(line);
    line = logRing.last;
    if (lines.length > 0) yield dataEvent(JSON.stringify({ type: "log", lines } satisfies LiveEvent));
    await sleep(intervalMs, undefined, { signal }).catch(() => {}); // aborted: the loop condition ends the loop
  }
}
