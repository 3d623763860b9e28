// What a server is doing, as it happens: GET /api/v1/events.
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
import type { Operation } from "../openapi/operation.ts";
import { stateTeller, type ControlOptions } from "./control.ts";

const events: Operation = {
  summary: "What the server is doing, as it happens",
  description:
    "The first event comes at once, then one whenever something has changed. Lines of the log have events of their own.",
  answers: { 200: LiveEvent },
  event: LiveEvent,
};

/** Between two looks at the server. */
const intervalMs = 500;

export interface EventsOptions extends ControlOptions {
  view: ServerView;
  board: RequestBoard;
  logRing: LogRing;
  jobs: JobRunner | undefined;
  keepAliveMs: number;
}

export async function eventRoutes(app: FastifyInstance, options: EventsOptions): Promise<void> {
  const tellState = stateTeller(app, options);
  const { registry, view, jobs, board, logRing, keepAliveMs } = options;

  const tell = (sampler: FigureSampler): LiveEvent => ({
    type: "state",
    state: tellState(),
    models: registry.slots.map(toManagedModel),
    jobs: jobs?.list() ?? [],
    server: view(),
    figures: sampler.sample(registry.stats(), {
      atMs: performance.now(),
      memoryBytes: process.memoryUsage.rss(),
      cachedShare: board.cachedShare,
    }),
    requests: board.rows(),
    keeps_bodies: board.bodies.isOn,
  });

  app.get(
    "/api/v1/events",
    { config: { right: "management", operation: events } },
    async (request, reply) => {
      const signal = AbortSignal.any([request.clientSignal, app.drainSignal]);
      const whatIsNew = changes({ refresh: () => registry.refresh(), tell, logRing }, signal);
      return sendEvents(request, reply, whatIsNew, { keepAliveMs });
    },
  );
}

interface Told {
  refresh: () => Promise<void>;
  tell: (sampler: FigureSampler) => LiveEvent;
  logRing: LogRing;
}

/** The state whenever it is another one, and the lines of the log that are new, until the signal ends it. */
async function* changes(
  { refresh, tell, logRing }: Told,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const sampler = new FigureSampler();
  let told = "";
  let line = 0;
  while (!signal.aborted) {
    await refresh();
    const now = JSON.stringify(tell(sampler));
    if (now !== told) yield dataEvent(now);
    told = now;
    const lines = logRing.after(line);
    line = logRing.last;
    if (lines.length > 0) yield dataEvent(JSON.stringify({ type: "log", lines } satisfies LiveEvent));
    await sleep(intervalMs, undefined, { signal }).catch(() => {}); // the loop ends by the signal
  }
}
