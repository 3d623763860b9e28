// The connection to the server that this page came from: its client, its live state as signals, and whether it is reachable.
import { ApiError, Ingle } from "@ingle/client";
import type { LiveEvent, LogLine, Machine, ManagedModel, Session } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { showToast } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { keepOpen, pause } from "./reconnect.ts";

/** Without retries: the page reports a failure at once, with a button to try again. */
export const client = new Ingle({ baseUrl: new URL(".", location.href).href, maxRetries: 0 });

/** `null` until the server has reported it. */
export const session = signal<Session | null>(null);

/** Whether this page may load models and change the server. */
export const canManage = computed(() => session.value?.right === "management");

/** Reads the session again; after a restart, the server may have other keys. */
async function refreshSession(options: { signal?: AbortSignal } = {}): Promise<void> {
  session.value = await client.session.get(options);
}

/** Begins a session with an API key. Resolves with false if the server does not know the key. */
export async function signIn(key: string): Promise<boolean> {
  try {
    session.value = await client.session.begin(key);
    return true;
  } catch (error) {
    if (ApiError.is(error) && error.code === "unauthorized") return false;
    throw error;
  }
}

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
  if (link.value === "lost") showToast({ text: appText.connectionBack, tone: "good" });
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

/** The hardware of the server, as of the last request; `null` until it is known, and if this page may not read it. */
export const machine = signal<Machine | null>(null);

/** Reads it again. On failure, the old state stays. */
async function refreshMachine(): Promise<void> {
  try {
    machine.value = await client.machine.get();
  } catch {
    // Every place that shows the machine can do without it.
  }
}

/** Free memory and disk space change slowly. */
const refreshMs = 10_000;

/** The machine, refreshed while the component is mounted. */
export function useMachine(): Machine | null {
  const isOpen = link.value === "open";
  useEffect(() => {
    if (!isOpen) return undefined;
    void refreshMachine();
    const timer = setInterval(() => void refreshMachine(), refreshMs);
    return () => clearInterval(timer);
  }, [isOpen]);
  return machine.value;
}
