// The other pages of the app, in any browser: they hear of changes and questions through the app's event stream.
import type { Chats } from "@ingle/client";
import type { ChatEvent } from "@ingle/protocol";

import type { Change, Note, NoteChannel } from "./other-tabs.ts";

/** A note goes over the app and back, and the other page may be busy rendering. */
const answerMs = 1_000;

interface AppChannelOptions {
  chats: Chats;
  page: string;
  /** Calls the listener with each event of the app's stream. */
  events: (listener: (event: ChatEvent) => void) => void;
  /** Events were missed: everything has to be read again. */
  onMissed: () => void;
}

export function appChannel({ chats, page, events, onMissed }: AppChannelOptions): NoteChannel {
  let listener: ((note: Note) => void) | undefined;
  events((event) => {
    if (event.about === "missed") onMissed();
    else if (event.page === page) return;
    else if (event.about === "note") listener?.({ type: event.note, id: event.id });
    else for (const change of toChanges(event.changed)) listener?.({ type: "change", change });
  });
  return {
    send(note) {
      // The app announces changes by itself.
      if (note.type === "change") return;
      // If the app is gone, nobody answers, and nobody is writing.
      chats.note({ page, type: note.type, id: note.id }).catch(() => {});
    },
    listen: (onNote) => {
      listener = onNote;
    },
    close: () => {
      listener = undefined;
    },
    answerMs,
  };
}

type Changed = Extract<ChatEvent, { about: "changes" }>["changed"];

/** What pages read again; files only change together with their messages. */
function toChanges(changed: Changed): Change[] {
  const changes: Change[] = [];
  const messages = new Map<string, string[]>();
  for (const { kind, id, conversation_id: conversationId } of changed) {
    if (kind === "conversation") changes.push({ kind, id });
    else if (kind === "message" && conversationId !== null)
      messages.set(conversationId, [...(messages.get(conversationId) ?? []), id]);
  }
  if (changed.some(({ kind }) => kind === "folder")) changes.push({ kind: "folders" });
  if (changed.some(({ kind }) => kind === "preset")) changes.push({ kind: "presets" });
  for (const [conversationId, ids] of messages) changes.push({ kind: "messages", conversationId, ids });
  return changes;
}
