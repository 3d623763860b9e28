// Announces changes of chats to the other pages that show them, and asks them who is writing a reply. They are tabs of this browser, or
// all pages of the app, which passes the notes on.

/** What has changed; a tab that shows it reads it again. */
export type Change =
  | { kind: "conversation"; id: string }
  | { kind: "messages"; conversationId: string; ids: string[] }
  | { kind: "folders" }
  | { kind: "presets" };

export type Note =
  | { type: "change"; change: Change }
  | { type: "who-writes"; id: string }
  | { type: "i-write"; id: string };

/** Carries notes between pages; not back to the page that sent one. */
export interface NoteChannel {
  send(note: Note): void;
  listen(onNote: (note: Note) => void): void;
  close(): void;
  /** Long enough for another page to answer, short enough not to be noticed, in milliseconds. */
  answerMs: number;
}

export interface Tabs {
  announce(change: Change): void;
  /** Whether another tab is writing this reply. A tab that does not answer in time counts as not writing. */
  isWrittenElsewhere(replyId: string, timeoutMs?: number): Promise<boolean>;
  close(): void;
}

/** The answer of a tab that is busy rendering. */
const tabAnswerMs = 400;

/** The tabs of this browser with the same origin. */
export function tabChannel(name: string): NoteChannel {
  const channel = new BroadcastChannel(name);
  return {
    // BroadcastChannel.postMessage has no targetOrigin; it only reaches this origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    send: (note) => channel.postMessage(note),
    listen: (onNote) => channel.addEventListener("message", ({ data }: MessageEvent<Note>) => onNote(data)),
    close: () => channel.close(),
    answerMs: tabAnswerMs,
  };
}

interface TabsOptions {
  channel: NoteChannel;
  onChange: (change: Change) => void;
  /** Whether this tab is writing the reply. */
  isWriting: (replyId: string) => boolean;
}

export function joinTabs({ channel, onChange, isWriting }: TabsOptions): Tabs {
  const asked = new Map<string, () => void>();
  channel.listen((note) => {
    if (note.type === "change") onChange(note.change);
    else if (note.type === "i-write") asked.get(note.id)?.();
    else if (isWriting(note.id)) channel.send({ type: "i-write", id: note.id });
  });
  return {
    announce: (change) => channel.send({ type: "change", change }),
    isWrittenElsewhere: (replyId, timeoutMs = channel.answerMs) =>
      new Promise((resolve) => {
        const settle = (isWritten: boolean) => {
          clearTimeout(timer);
          asked.delete(replyId);
          resolve(isWritten);
        };
        const timer = setTimeout(() => settle(false), timeoutMs);
        asked.set(replyId, () => settle(true));
        channel.send({ type: "who-writes", id: replyId });
      }),
    close: () => channel.close(),
  };
}
