// The live state of the server as signals, from its stream of events, and whether the server is reachable.
import { ApiError } from "@ingle/client";
import type { LiveEvent, LogLine, ManagedModel } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";

import { showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { client, refreshSession, session } from "./client.ts";
import { keepOpen, pause } from "./reconnect.ts";

export type LiveState = Extract<LiveEvent, { type: "state" }>;

/** `closed`: the server is reachable, but this page is unauthenticated. */
type Link = "connecting" | "open" | "lost" | "closed";

/** Log lines that the page keeps; the server keeps fewer. */
const logLinesMax = 2_000;

export const link = signal<Link>("connecting");

/** The last known state, also while the link is lost; null before the first. */
export const live = signal<LiveState | null>(null);

/** The log, the newest line last. */
export const logLines = signal<readonly LogLine[]>([]);

export const models = computed<readonly ManagedModel[]>(() => live.value?.models ?? []);

/** Finds a model by its id or an alias. */
export function modelOf(name: string): ManagedModel | undefined {
  return models.value.find((model) => model.id === name || model.aliases.includes(name));
}

/** Aborted to end the wait before the next try. */
let waiting = new AbortController();

/** Tries to connect at once instead of waiting. */
export function connectNow(): void {
  waiting.abort();
}

/** Connects, and reconnects for as long as the page is open. */
export function startConnection(): void {
  const { signal: forever } = new AbortController();
  for (const event of ["online", "focus", "visibilitychange"]) addEventListener(event, connectNow);
  void keepOpen({ open, onEvent, onLost, signal: forever, wait });
}

async function open(end: AbortSignal): Promise<AsyncIterable<LiveEvent>> {
  await refreshSession({ signal: end });
  if (session.value?.right === "none") throw new Unauthenticated();
  return client.events({ signal: end });
}

function onEvent(event: LiveEvent): void {
  if (event.type === "log") {
    logLines.value = withNewLines(logLines.value, event.lines);
    return;
  }
  live.value = event;
  if (link.value === "lost") showToast({ text: strings.value.app.connectionBack, tone: "good" });
  link.value = "open";
}

function onLost(error: unknown): void {
  const isRejected =
    error instanceof Unauthenticated ||
    (ApiError.is(error) && (error.status === 401 || error.status === 403));
  link.value = isRejected ? "closed" : "lost";
}

/** Appends log lines. After a reconnection the server repeats its lines; after a restart it numbers them from 0 again. */
function withNewLines(known: readonly LogLine[], lines: readonly LogLine[]): readonly LogLine[] {
  const last = known.at(-1);
  const first = lines[0];
  const isRestarted =
    last !== undefined && first !== undefined && first.time > last.time && first.number <= last.number;
  const fresh = isRestarted ? lines : lines.filter((line) => line.number > (last?.number ?? -1));
  return [...known, ...fresh].slice(-logLinesMax);
}

/** The session has no rights, so there is no stream to open until the user signs in. */
class Unauthenticated extends Error {}

function wait(milliseconds: number, end: AbortSignal): Promise<void> {
  waiting = new AbortController();
  return pause(milliseconds, AbortSignal.any([end, waiting.signal]));
}
