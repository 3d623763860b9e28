// Tells the other tabs of this browser what has changed in the database, and finds out which of them writes a reply.

/** What has changed; whoever shows it reads it anew. */
export type Change =
  | { kind: "conversation"; id: string }
  | { kind: "messages"; conversationId: string; ids: string[] }
  | { kind: "folders" }
  | { kind: "presets" };

type Note =
  | { type: "change"; change: Change }
  | { type: "who-writes"; id: string }
  | { type: "i-write"; id: string };

export interface Tabs {
  /** Tells the others of a change that this tab has made. */
  announce(change: Change): void;
  /** Whether another tab is writing this reply now. One that does not answer in time is not. */
  isWrittenElsewhere(replyId: string, timeoutMs?: number): Promise<boolean>;
  close(): void;
}

/** Long enough for a tab that is busy drawing, short enough not to be noticed. */
const answerMs = 400;

interface TabsOptions {
  name: string;
  onChange: (change: Change) => void;
  /** Whether this tab is writing the reply. */
  isWriting: (replyId: string) => boolean;
}

export function joinTabs({ name, onChange, isWriting }: TabsOptions): Tabs {
  const channel = new BroadcastChannel(name);
  const asked = new Map<string, () => void>();
  // A channel reaches this origin alone, and its method takes no other argument.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const send = (note: Note) => channel.postMessage(note);
  channel.addEventListener("message", ({ data }: MessageEvent<Note>) => {
    if (data.type === "change") onChange(data.change);
    else if (data.type === "i-write") asked.get(data.id)?.();
    else if (isWriting(data.id)) send({ type: "i-write", id: data.id });
  });
  return {
    announce: (change) => send({ type: "change", change }),
    isWrittenElsewhere: (replyId, timeoutMs = answerMs) =>
      new Promise((resolve) => {
        const settle = (isWritten: boolean) => {
          clearTimeout(timer);
          asked.delete(replyId);
          resolve(isWritten);
        };
        const timer = setTimeout(() => settle(false), timeoutMs);
        asked.set(replyId, () => settle(true));
        send({ type: "who-writes", id: replyId });
      }),
    close: () => channel.close(),
  };
}
