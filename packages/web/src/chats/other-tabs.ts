// Announces database changes to the other tabs of this browser, and asks them who is writing a reply.

/** What has changed; a tab that shows it reads it again. */
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
  announce(change: Change): void;
  /** Whether another tab is writing this reply. A tab that does not answer in time counts as not writing. */
  isWrittenElsewhere(replyId: string, timeoutMs?: number): Promise<boolean>;
  close(): void;
}

/** Long enough for a tab that is busy rendering, short enough not to be noticed. */
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
  // BroadcastChannel.postMessage has no targetOrigin; it only reaches this origin.
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
