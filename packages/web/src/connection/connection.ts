// What the server is doing, by one stream of events, and whether it is there at all. Pages read these signals.
import { ApiError } from "@ingle/client";
import type { LiveEvent, LogLine, ManagedModel } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";

import { showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { keepOpen } from "./reconnect.ts";
import { client } from "./client.ts";
import { refreshSession, session } from "./session.ts";

export type LiveState = Extract<LiveEvent, { type: "state" }>;

/** `closed`: the server is there and this page has no right to look. */
export type Link = "connecting" | "open" | "lost" | "closed";

/** Lines of the log that a page keeps; the server keeps fewer. */
const logLinesMax = 2_000;

export const link = signal<Link>("connecting");

/** The last state that was told; the old one while the link is lost, and null before the first. */
export const live = signal<LiveState | null>(null);

/** The log so far, the newest last. */
export const logLines = signal<readonly LogLine[]>([]);

export const models = computed<readonly ManagedModel[]>(() => live.value?.models ?? []);

/** The entry of a model by its id or one of its aliases. */
export function modelOf(name: string): ManagedModel | undefined {
  return models.value.find((model) => model.id === name || model.aliases.includes(name));
}

let hurry: (() => void) | undefined;

/** Tries to connect at once instead of waiting. */
export function connectNow(): void {
  hurry?.();
}

/** Listens from now on, and says when the server is gone or came back. */
export function startConnection(): void {
  const { signal: forever } = new AbortController();
  for (const hope of ["online", "focus", "visibilitychange"]) addEventListener(hope, connectNow);
  void keepOpen({ open, onEvent, onLost, signal: forever, wait });
}

async function open(end: AbortSignal): Promise<AsyncIterable<LiveEvent>> {
  await refreshSession({ signal: end });
  if (session.value?.right === "none") throw new NoRight();
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
  const isRefused =
    error instanceof NoRight || (ApiError.is(error) && (error.status === 401 || error.status === 403));
  link.value = isRefused ? "closed" : "lost";
}

/** After a reconnection the server tells its lines again: those that are there are not repeated. A restarted one counts anew. */
export function withNewLines(known: readonly LogLine[], lines: readonly LogLine[]): readonly LogLine[] {
  const last = known.at(-1);
  const first = lines[0];
  const isRestarted =
    last !== undefined && first !== undefined && first.time > last.time && first.number <= last.number;
  const fresh = isRestarted ? lines : lines.filter((line) => line.number > (last?.number ?? -1));
  return [...known, ...fresh].slice(-logLinesMax);
}

/** A session without any right: there is nothing to listen to until a key is given. */
class NoRight extends Error {}

function wait(milliseconds: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      end.removeEventListener("abort", go);
      hurry = undefined;
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    end.addEventListener("abort", go);
    hurry = go;
  });
}
