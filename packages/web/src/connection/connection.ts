// The connection to the server that this page came from: its client, its live state as signals, and whether it is reachable.
import { ApiError, Ingle } from "@ingle/client";
import type { ChatEvent, LiveEvent, LogLine, Machine, ManagedModel, Session } from "@ingle/protocol";
import { computed, effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { showToast } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { comeBack, forgetBrowser, rememberBrowser } from "./known-browser.ts";
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
export function findModel(name: string): ManagedModel | undefined {
  return models.value.find((model) => model.id === name || model.aliases.includes(name));
}

/** The tokens of a model's context, or before it is loaded, of those that it was trained with; null if neither is known. */
export function knownContext(name: string): number | null {
  const model = findModel(name);
  return model?.context_length ?? model?.context_length_train ?? null;
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
  await comeBackIfKnown(end);
  if (session.value?.right === "none") throw new Unauthenticated();
  await rememberIfWanted();
  return client.events({ signal: end });
}

/** After a restart of the app, a browser that it knows gets a new session. */
async function comeBackIfKnown(end: AbortSignal): Promise<void> {
  if (session.value?.is_app !== true || session.value.right !== "none") return;
  try {
    session.value = (await comeBack(client.session, end)) ?? session.value;
  } catch (error) {
    // The app does not know this browser: its link is needed, as the page then says.
    if (!ApiError.is(error) || error.status >= 500) throw error;
  }
}

const noReturnKey = "ingle-no-return";

/** Whether this browser may come back after a restart of the app without its link. */
export const isRemembered = signal(localStorage.getItem(noReturnKey) === null);

export async function setRemembered(isWanted: boolean): Promise<void> {
  if (isWanted) await rememberBrowser(client.session);
  else await forgetBrowser(client.session);
  if (isWanted) localStorage.removeItem(noReturnKey);
  else localStorage.setItem(noReturnKey, "yes");
  isRemembered.value = isWanted;
}

async function rememberIfWanted(): Promise<void> {
  if (session.value?.is_app !== true || !isRemembered.value) return;
  try {
    await rememberBrowser(client.session);
  } catch {
    // A private window may have no database, and a proxy is refused: the link then works as before.
  }
}

function onEvent(event: LiveEvent): void {
  if (event.type === "log") logLines.value = withNewLines(logLines.value, event.lines);
  else if (event.type === "chats") for (const each of event.events) chatListener?.(each);
  else {
    live.value = event;
    if (link.value === "lost") showToast({ text: appText.connectionBack, tone: "good" });
    link.value = "open";
  }
}

let chatListener: ((event: ChatEvent) => void) | undefined;

/** Calls the listener with what happens to the app's chats, as long as the page is open. */
export function onChatEvent(listener: (event: ChatEvent) => void): void {
  chatListener = listener;
}

/** Resolves with the session as soon as the server has granted one. */
export function grantedSession(): Promise<Session> {
  return new Promise((resolve) => {
    const end = effect(() => {
      const { value } = session;
      if (value === null || value.right === "none") return;
      resolve(value);
      queueMicrotask(() => end()); // it may run before `end` is assigned
    });
  });
}

/** Calls the listener each time that the event stream has opened: events before it were missed. */
export function onStreamOpen(listener: () => void): void {
  effect(() => {
    if (link.value === "open") listener();
  });
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
