// The list of conversations as rows: first the folders with their conversations, then the rest, grouped by age. Pure.
import type { Conversation, Folder } from "./conversation.ts";

type Age = "today" | "yesterday" | "week" | "month" | "older";

export type Row =
  | { kind: "folder"; key: string; folder: Folder; count: number; isOpen: boolean }
  | { kind: "age"; key: string; age: Age }
  | { kind: "conversation"; key: string; conversation: Conversation; isInside: boolean };

interface RowsOptions {
  conversations: readonly Conversation[];
  folders: readonly Folder[];
  closedFolders: ReadonlySet<string>;
  now: Date;
}

/** Expects `conversations` with the newest first, and keeps their order. */
export function conversationRows({ conversations, folders, closedFolders, now }: RowsOptions): Row[] {
  const known = new Set(folders.map(({ id }) => id));
  const rows: Row[] = folders.flatMap((folder) => {
    const inside = conversations.filter(({ folderId }) => folderId === folder.id);
    const isOpen = !closedFolders.has(folder.id);
    const head: Row = { kind: "folder", key: folder.id, folder, count: inside.length, isOpen };
    return isOpen ? [head, ...inside.map((conversation) => toRow(conversation, true))] : [head];
  });
  let last: Age | undefined;
  for (const conversation of conversations) {
    if (conversation.folderId !== null && known.has(conversation.folderId)) continue;
    const age = calendarAge(conversation.updatedAt, now);
    if (age !== last) rows.push({ kind: "age", key: age, age });
    last = age;
    rows.push(toRow(conversation, false));
  }
  return rows;
}

/** Counts calendar days, not hours. */
export function calendarAge(time: number, now: Date): Age {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const daysAgo = (days: number) => new Date(midnight).setDate(midnight.getDate() - days);
  if (time >= midnight.getTime()) return "today";
  if (time >= daysAgo(1)) return "yesterday";
  if (time >= daysAgo(7)) return "week";
  return time >= daysAgo(30) ? "month" : "older";
}

function toRow(conversation: Conversation, isInside: boolean): Row {
  return { kind: "conversation", key: conversation.id, conversation, isInside };
}
