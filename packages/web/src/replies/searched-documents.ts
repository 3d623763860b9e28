// Which documents of a chat are searched for passages, because they do not fit the context as a whole: the longest first. Pure, apart from the
// counting that it is given.
import { textDocuments } from "../conversations/chat-storage.ts";
import type { Message, TextAttachment } from "../conversations/conversation.ts";
import { passagesBudget } from "../retrieval/split-text.ts";
import { replyReserve } from "./rolling-context.ts";

/** No text has so many characters per token on average, so a longer one does not have to be counted. */
const tokenCharactersMax = 32;

export interface SearchOptions {
  /** From the first message to the question. */
  path: readonly Message[];
  /** The tokens of a request with this path. */
  count: (path: readonly Message[]) => Promise<number>;
  contextLength: number;
  maxTokens: number | null;
  /** Whether the oldest turns are left out when the chat exceeds the context. */
  rolls: boolean;
}

export interface SearchPlan {
  /** The path, in which the documents that are searched are marked. */
  path: readonly Message[];
  /** How many tokens their passages may have. */
  budget: number;
}

/** Marks documents until the rest fits together with the passages, or until all are marked that have more than the passages. */
export async function planSearch(options: SearchOptions): Promise<SearchPlan> {
  const { contextLength, maxTokens, rolls, count } = options;
  const budget = passagesBudget(contextLength);
  const free = contextLength - replyReserve(contextLength, maxTokens);
  const isTooLong = ({ text }: TextAttachment) => text.length > contextLength * tokenCharactersMax;
  // What has fewer characters than this has fewer tokens.
  const whole = textDocuments(options.path)
    .filter(({ isSearched, text }) => isSearched !== true && text.length > budget)
    .toSorted((a, b) => b.text.length - a.text.length);
  let marked = whole.filter(isTooLong).length;
  for (;;) {
    const path = markSearched(options.path, new Set(whole.slice(0, marked).map(({ id }) => id)));
    const isSearching = textDocuments(path).some(({ isSearched }) => isSearched);
    const left = free - (await count(path));
    if (left >= (isSearching ? budget : 0)) return { path, budget };
    if (marked === whole.length) return { path, budget: rolls ? budget : Math.max(0, left) };
    marked += 1;
  }
}

/** The same path, with only those messages copied that have such a document. */
function markSearched(path: readonly Message[], ids: ReadonlySet<string>): Message[] {
  return path.map((message) =>
    message.role === "user" && message.attachments.some(({ id }) => ids.has(id))
      ? {
          ...message,
          attachments: message.attachments.map((each) =>
            each.kind === "text" && ids.has(each.id) ? { ...each, isSearched: true } : each,
          ),
        }
      : message,
  );
}
