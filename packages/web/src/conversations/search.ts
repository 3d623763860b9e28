// Finds conversations by words in their titles and messages. Reads one conversation at a time, so that the first results come at
// once and an aborted search ends soon.
import type { Conversation, Message } from "./conversation.ts";

export interface FoundConversation {
  conversation: Conversation;
  /** The passage with the words; null if they are in the title. */
  excerpt: string | null;
}

/** Characters before the first word, and in all. */
const excerptBefore = 30;
const excerptLength = 110;

/** Nobody reads more results. */
const foundMax = 100;

interface SearchOptions {
  words: string;
  conversations: readonly Conversation[];
  readMessages: (conversationId: string) => Promise<readonly Message[]>;
  signal: AbortSignal;
}

/** Yields matches in the order of the conversations. A match contains all words, in any order and case. */
export async function* searchChats({
  words,
  conversations,
  readMessages,
  signal,
}: SearchOptions): AsyncGenerator<FoundConversation> {
  const wanted = fold(words)
    .split(/\s+/)
    .filter((word) => word !== "");
  if (wanted.length === 0) return;
  let count = 0;
  for (const conversation of conversations) {
    const found = hasAll(conversation.title, wanted)
      ? { conversation, excerpt: null }
      : await findInside(conversation, wanted, readMessages);
    if (signal.aborted) return;
    if (found === undefined) continue;
    yield found;
    count += 1;
    if (count === foundMax) return;
  }
}

async function findInside(
  conversation: Conversation,
  wanted: readonly string[],
  readMessages: SearchOptions["readMessages"],
): Promise<FoundConversation | undefined> {
  for (const { text } of await readMessages(conversation.id)) {
    if (hasAll(text, wanted)) return { conversation, excerpt: cutExcerpt(text, wanted) };
  }
  return undefined;
}

function hasAll(text: string, wanted: readonly string[]): boolean {
  const folded = fold(text);
  return wanted.every((word) => folded.includes(word));
}

/** The passage around the first of the words. */
export function cutExcerpt(text: string, wanted: readonly string[]): string {
  const line = text.replaceAll(/\s+/g, " ");
  const folded = fold(line);
  const at = Math.max(
    0,
    Math.min(...wanted.map((word) => folded.indexOf(word)).filter((found) => found >= 0)),
  );
  const start = at <= excerptBefore ? 0 : at - excerptBefore;
  const end = start + excerptLength;
  return `${start > 0 ? "…" : ""}${line.slice(start, end).trim()}${end < line.length ? "…" : ""}`;
}

/** Lower case of the same length, so that positions in it are positions in the text. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
