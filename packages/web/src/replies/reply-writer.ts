// Streams one request's replies from the server into their messages: onto the page with each frame, and into the database with the
// first words and then each second. What has come since is kept when the page is closed; a crash of the browser loses a second.
import { ApiError, IngleError } from "@ingle/client";
import { batch, signal } from "@preact/signals";

import type { ReplyError, ReplyMessage, ReplyStatus } from "../chats/conversation.ts";
import { client } from "../connection/client.ts";
import { codeOf } from "../strings/error-words.ts";
import type { StreamedChatBody } from "./chat-request.ts";
import { createFrameBatch } from "./frame-batch.ts";
import { addLiveReply, removeLiveReply, type LiveReply } from "./live-replies.ts";
import { openReply } from "./open-reply.ts";
import { createProgress, type ProgressOfAll, type ReplyProgress } from "./reply-progress.ts";

const saveEveryMs = 1_000;

/**
 * Most characters that one frame adds to a text. Many come at once where the page was busy or had no processor for a moment, and to
 * draw them all would keep it busy again. The fastest models write a twentieth of what 60 such frames show in a second.
 */
const drawnLengthMax = 1_000;

/** What ends a request because the person said so. */
class Stopped extends Error {}

/** What ends a request because the page is closed. */
class PageClosed extends Error {}

/** What is being written, each by what it does when the page is closed. */
const open = new Set<() => void>();

addEventListener("pagehide", () => {
  for (const close of open) close();
});

/** Replies that are written, or will be as soon as their request is sent: the choices of one request, in their order. */
export interface BegunReplies {
  readonly messages: readonly ReplyMessage[];
  readonly live: readonly LiveReply[];
  readonly controller: AbortController;
}

interface WriteOptions {
  /** Made when it is asked for: images have to be read first. */
  body: () => Promise<StreamedChatBody>;
  save: (messages: readonly ReplyMessage[]) => Promise<void>;
  /** Keeps them at once, without the database. */
  keep: (messages: readonly ReplyMessage[]) => void;
}

export interface WrittenReplies {
  /** As they are at the end. */
  messages: readonly ReplyMessage[];
  /** Why they could not be saved; undefined when they are. */
  saveError: unknown;
}

/**
 * Puts replies on the page's list of those that are written. Called before their messages are shown, so that nobody takes them for
 * another tab's; `endLive` takes them off.
 */
export function beginReplies(messages: readonly ReplyMessage[]): BegunReplies {
  const controller = new AbortController();
  const live = messages.map((message) => makeLive(message, controller));
  batch(() => {
    messages.forEach((message, at) => live[at] !== undefined && addLiveReply(message.id, live[at]));
  });
  return { messages, live, controller };
}

/** Never rejects: a request that fails is a reply that failed. */
export async function writeReplies(
  { messages, live, controller }: BegunReplies,
  { body, save, keep }: WriteOptions,
): Promise<WrittenReplies> {
  const progress = createProgress(messages.map(beginningOf), () => performance.now());
  const snapshot = (end: End) =>
    messages.map((message, at) => toMessage(message, progress.replies[at] ?? beginningOf(message), end));
  const frames = createFrameBatch(() => show(live, progress));
  const saveNow = createSaver(() => save(snapshot({ status: "writing", error: null })));
  const close = () => {
    keep(snapshot({ status: "interrupted", error: null }));
    controller.abort(new PageClosed());
  };
  open.add(close);
  saveNow.first();
  let end: End = { status: "done", error: null };
  try {
    const { signal: stopped } = controller;
    const request = await body();
    const stream = await openReply(() => client.chat.completions.stream(request, { signal: stopped }), {
      signal: stopped,
    });
    for await (const chunk of stream) {
      progress.add(chunk);
      frames.request();
      saveNow.soon();
    }
  } catch (error) {
    end = endOf(error, controller.signal.reason, progress);
  }
  open.delete(close);
  const written = snapshot(end);
  const drawn = frames.settled();
  const saveError = await errorOf(Promise.all([saveNow.settled(), save(written)]));
  if (saveError !== undefined) keep(written);
  await drawn;
  frames.finish();
  return { messages: written, saveError };
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Takes replies off the page's list of those that are written; their messages have to be shown by then. */
export function endLive(messages: readonly ReplyMessage[]): void {
  batch(() => {
    for (const { id } of messages) removeLiveReply(id);
  });
}

interface End {
  status: ReplyStatus;
  error: ReplyError | null;
}

/** How a request ended that did not come to its end. */
function endOf(error: unknown, reason: unknown, progress: ProgressOfAll): End {
  if (reason instanceof Stopped) return { status: "stopped", error: null };
  if (reason instanceof PageClosed) return { status: "interrupted", error: null };
  const isBroken = IngleError.is(error) && !ApiError.is(error);
  const hasText = progress.replies.some(({ text, thinking }) => text !== "" || thinking !== "");
  return { status: isBroken && hasText ? "interrupted" : "failed", error: toReplyError(error) };
}

function toReplyError(error: unknown): ReplyError {
  const message = error instanceof Error ? error.message : String(error);
  if (ApiError.is(error)) {
    const { code, promptTokens = null, contextLength = null } = error;
    return { code, message, promptTokens, contextLength };
  }
  return { code: codeOf(error), message, promptTokens: null, contextLength: null };
}

function beginningOf({ text, reply }: ReplyMessage): ReplyProgress {
  return { text, thinking: reply.thinking, thinkingMs: reply.thinkingMs, finish: null, figures: null };
}

function toMessage(message: ReplyMessage, progress: ReplyProgress, { status, error }: End): ReplyMessage {
  const { text, thinking, thinkingMs, finish, figures } = progress;
  // Of several choices, some may have been whole before the request broke.
  const isWhole = status !== "writing" && finish !== null;
  const ended = isWhole ? { status: "done" as const, error: null } : { status, error };
  return { ...message, text, reply: { ...message.reply, thinking, thinkingMs, finish, figures, ...ended } };
}

function makeLive({ conversationId, text, reply }: ReplyMessage, controller: AbortController): LiveReply {
  return {
    conversationId,
    text: signal(text),
    thinking: signal(reply.thinking),
    thinkingMs: signal(reply.thinkingMs),
    figures: signal(null),
    stop: () => controller.abort(new Stopped()),
  };
}

/** Puts what has come onto the page, and answers whether some of it is left for the next frame. */
function show(live: readonly LiveReply[], { replies }: ProgressOfAll): boolean {
  batch(() => {
    live.forEach((reply, at) => {
      const progress = replies[at];
      if (progress === undefined) return;
      reply.text.value = grown(reply.text.peek(), progress.text);
      reply.thinking.value = grown(reply.thinking.peek(), progress.thinking);
      reply.thinkingMs.value = progress.thinkingMs;
      reply.figures.value = progress.figures;
    });
  });
  return live.some(({ text, thinking }, at) => {
    const { text: wholeText = "", thinking: wholeThinking = "" } = replies[at] ?? {};
    return text.peek().length < wholeText.length || thinking.peek().length < wholeThinking.length;
  });
}

/** The text with as much more of it as one frame draws; nobody waits for the frames of a hidden page. */
function grown(shown: string, whole: string): string {
  return document.hidden ? whole : whole.slice(0, shown.length + drawnLengthMax);
}

/** Saves at once, with the first words and then at most each second. A save that fails is tried again by the next one. */
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
    // The disk is full or the database is gone: the last save, which is waited for, says so.
  }
}
