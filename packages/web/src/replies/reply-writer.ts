// Streams the replies of one request: to the page with each frame, and to the database with the first words and then every second.
// A closing page stores the rest in localStorage; a crash of the browser loses at most a second.
import { ApiError, IngleError } from "@ingle/client";
import type { McpApproval, ToolCall as WireCall } from "@ingle/protocol";
import { batch, signal } from "@preact/signals";

import type { ReplyError, ReplyMessage, Reply, ToolCall, ToolStep } from "../conversations/conversation.ts";
import { client, findModel } from "../connection/connection.ts";
import { errorCode, errorText } from "../strings/error-message.ts";
import type { StreamedChatBody } from "./chat-request.ts";
import { createFrameBatch } from "./frame-batch.ts";
import { liveReplies, type LiveReply } from "../conversations/live-replies.ts";
import { openReply } from "../connection/reconnect.ts";
import { createProgress, type RequestProgress, type ReplyProgress } from "./reply-progress.ts";

const saveEveryMs = 1_000;

/**
 * Maximum number of characters that one frame adds to a text. After a pause, many arrive at once, and rendering them all would
 * block the page again. The fastest models write a twentieth of what 60 such frames can show per second.
 */
const drawnLengthMax = 1_000;

/** Aborts a request because the user stopped it. */
class Stopped extends Error {}

/** Aborts a request because the page is closing. */
class PageClosed extends Error {}

/** What to do for each request in flight when the page is closing. */
const onClose = new Set<() => void>();

addEventListener("pagehide", () => {
  for (const close of onClose) close();
});

/** The replies of one request, in the order of its choices. The request may not have been sent yet. */
export interface BegunReplies {
  readonly messages: readonly ReplyMessage[];
  readonly live: readonly LiveReply[];
  readonly controller: AbortController;
}

/** How to run the calls of one step. */
export interface CallRun {
  /** Resolves with the user's decision; rejects with the signal's reason. */
  ask: (callId: string) => Promise<McpApproval>;
  /** Gets all calls of the step whenever one of them changes. */
  onChange: (calls: readonly ToolCall[]) => void;
  signal: AbortSignal;
}

export interface ReplyTools {
  begin: (asked: WireCall) => ToolCall;
  /** Rejects only with the signal's reason. */
  run: (calls: readonly ToolCall[], run: CallRun) => Promise<void>;
}

interface WriteOptions {
  /** Builds a request after these steps; asynchronous, because images have to be read. */
  body: (steps: readonly ToolStep[]) => Promise<StreamedChatBody>;
  /** How many of the oldest messages its last request left out. */
  leftOut: () => number;
  /** Runs the calls that a reply asks for. Several replies of one request call no tools. */
  tools: ReplyTools;
  save: (messages: readonly ReplyMessage[]) => Promise<void>;
  /** Stores them synchronously, outside the database. */
  storeUnsaved: (messages: readonly ReplyMessage[]) => void;
}

interface WrittenReplies {
  messages: readonly ReplyMessage[];
  /** Why they could not be saved; undefined if they were. */
  saveError: unknown;
}

/**
 * Registers replies as live. Call it before their messages are shown: unfinished replies that are not live count as those of another
 * tab. `endLiveReplies` removes them.
 */
export function beginReplies(messages: readonly ReplyMessage[]): BegunReplies {
  const controller = new AbortController();
  const live = messages.map((message) => makeLive(message, controller));
  liveReplies.value = new Map([...liveReplies.value, ...live.map((reply) => [reply.id, reply] as const)]);
  return { messages, live, controller };
}

/** Never rejects: a failed request becomes a failed reply. */
export async function writeReplies(
  begun: BegunReplies,
  { body, leftOut, tools, save, storeUnsaved }: WriteOptions,
): Promise<WrittenReplies> {
  const { messages, live, controller } = begun;
  const progress = createProgress(messages.map(toProgress), () => performance.now());
  const snapshot = (end: End) =>
    messages.map((message, at) => {
      const { leftOut: _before, ...reply } = message.reply;
      const count = leftOut();
      const placed = { ...message, reply: count === 0 ? reply : { ...reply, leftOut: count } };
      return toMessage(placed, progress.replies[at] ?? toProgress(message), end);
    });
  const frames = createFrameBatch(() => show(live, progress));
  const saveNow = createSaver(() => save(snapshot({ status: "writing", error: null })));
  const changed = () => {
    frames.request();
    saveNow.soon();
  };
  const close = () => {
    storeUnsaved(snapshot({ status: "interrupted", error: null }));
    controller.abort(new PageClosed());
  };
  onClose.add(close);
  saveNow.first();
  let end: End = { status: "done", error: null };
  try {
    await streamSteps(begun, progress, { body, tools, onChange: changed });
  } catch (error) {
    end = toEnd(error, controller.signal.reason, progress);
  }
  onClose.delete(close);
  const written = snapshot(end);
  const shown = frames.settled();
  const saveError = await catchError(Promise.all([saveNow.settled(), save(written)]));
  if (saveError !== undefined) storeUnsaved(written);
  await shown;
  frames.finish();
  return { messages: written, saveError };
}

/** Sends a request after each step, until a reply ends without calls. */
async function streamSteps(
  { live, controller: { signal: stopped } }: BegunReplies,
  progress: RequestProgress,
  { body, tools, onChange }: Pick<WriteOptions, "body" | "tools"> & { onChange: () => void },
): Promise<void> {
  for (;;) {
    const request = await body(progress.replies[0]?.steps ?? []);
    const open = () => client.chat.completions.stream(request, { signal: stopped });
    const stream = await openReply(open, { signal: stopped });
    for await (const chunk of stream) {
      for (const { responseId } of live) responseId.value = chunk.id;
      progress.add(chunk);
      onChange();
    }
    const [reply] = live;
    if (reply === undefined || progress.replies[0]?.finish !== "tool_calls") return;
    const { tool_calls: asked = [] } = await stream.finalMessage();
    const calls = asked.map((call) => tools.begin(call));
    progress.beginStep(calls);
    onChange();
    await tools.run(calls, {
      ask: (callId) => askUser(reply, callId, stopped),
      onChange: (changed) => {
        progress.changeCalls(changed);
        onChange();
      },
      signal: stopped,
    });
  }
}

/** Resolves with the user's decision. */
async function askUser(reply: LiveReply, callId: string, stopped: AbortSignal): Promise<McpApproval> {
  stopped.throwIfAborted();
  try {
    const approval = await new Promise<McpApproval>((answer) => {
      reply.question.value = { callId, answer };
      stopped.addEventListener("abort", () => answer("no"), { once: true });
    });
    stopped.throwIfAborted();
    return approval;
  } finally {
    reply.question.value = null;
  }
}

async function catchError(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Removes replies from the live ones. Their final messages have to be shown by then. */
export function endLiveReplies(messages: readonly ReplyMessage[]): void {
  const ended = new Set(messages.map(({ id }) => id));
  liveReplies.value = new Map([...liveReplies.value].filter(([id]) => !ended.has(id)));
}

interface End {
  status: Reply["status"];
  error: ReplyError | null;
}

/** How a request ended that failed or was aborted. */
function toEnd(error: unknown, reason: unknown, progress: RequestProgress): End {
  if (reason instanceof Stopped) return { status: "stopped", error: null };
  if (reason instanceof PageClosed) return { status: "interrupted", error: null };
  const isBroken = IngleError.is(error) && !ApiError.is(error);
  const hasText = progress.replies.some(
    ({ text, thinking, steps }) => text !== "" || thinking !== "" || steps.length > 0,
  );
  return { status: isBroken && hasText ? "interrupted" : "failed", error: toReplyError(error) };
}

function toReplyError(error: unknown): ReplyError {
  const message = errorText(error);
  if (ApiError.is(error)) {
    const { code, promptTokens = null, contextLength = null } = error;
    return { code, message, promptTokens, contextLength };
  }
  return { code: errorCode(error), message, promptTokens: null, contextLength: null };
}

function toProgress({ text, reply }: ReplyMessage): ReplyProgress {
  const { thinking, thinkingMs, steps = [] } = reply;
  return { text, thinking, thinkingMs, finish: null, figures: null, steps };
}

function toMessage(message: ReplyMessage, progress: ReplyProgress, { status, error }: End): ReplyMessage {
  const { text, thinking, thinkingMs, finish, figures, steps } = progress;
  // Some choices may have been complete before the request broke.
  const isComplete = status !== "writing" && finish !== null;
  const ended = isComplete ? { status: "done" as const, error: null } : { status, error };
  const before = steps.length === 0 ? {} : { steps: [...steps] };
  const contextLength = findModel(message.reply.model)?.context_length ?? null;
  const written = { ...before, thinking, thinkingMs, finish, figures, contextLength, ...ended };
  return { ...message, text, reply: { ...message.reply, ...written } };
}

function makeLive({ id, conversationId, text, reply }: ReplyMessage, controller: AbortController): LiveReply {
  return {
    id,
    conversationId,
    text: signal(text),
    thinking: signal(reply.thinking),
    thinkingMs: signal(reply.thinkingMs),
    figures: signal(null),
    steps: signal(reply.steps ?? []),
    question: signal(null),
    responseId: signal(null),
    reading: signal(null),
    stop: () => controller.abort(new Stopped()),
  };
}

/** Shows the progress on the page. Returns whether some of it is left for the next frame. */
function show(live: readonly LiveReply[], { replies }: RequestProgress): boolean {
  batch(() => {
    live.forEach((reply, at) => {
      const progress = replies[at];
      if (progress === undefined) return;
      reply.text.value = nextText(reply.text.peek(), progress.text);
      reply.thinking.value = nextText(reply.thinking.peek(), progress.thinking);
      reply.thinkingMs.value = progress.thinkingMs;
      reply.figures.value = progress.figures;
      reply.steps.value = progress.steps;
    });
  });
  return live.some(({ text, thinking }, at) => {
    const { text: wholeText = "", thinking: wholeThinking = "" } = replies[at] ?? {};
    return text.peek().length < wholeText.length || thinking.peek().length < wholeThinking.length;
  });
}

/** The shown text plus as much as one frame may add. A hidden page shows everything at once. */
function nextText(shown: string, whole: string): string {
  return document.hidden ? whole : whole.slice(0, shown.length + drawnLengthMax);
}

/** Saves at once, then with the first words, then at most every second. After a failed save, the next one tries again. */
function createSaver(save: () => Promise<void>) {
  let last = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();
  const begin = () => {
    running = saveAfter(running, save);
  };
  return {
    first: begin,
    soon() {
      const now = performance.now();
      if (now - last < saveEveryMs) return;
      last = now;
      begin();
    },
    settled: () => running,
  };
}

async function saveAfter(before: Promise<void>, save: () => Promise<void>): Promise<void> {
  await before;
  try {
    await save();
  } catch {
    // The disk is full or the database is gone. The final save will report it.
  }
}
