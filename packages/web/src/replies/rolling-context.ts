// A conversation longer than the context: the oldest turns are left out. Where it is cut moves in steps, so that most prompts begin as the one
// before, whose computed part the server then reuses. Pure, apart from the counting that it is given.
import type { Message } from "../conversations/conversation.ts";

interface RollingOptions {
  /** From the first message to the last one that is sent. */
  path: readonly Message[];
  /** The tokens of a request with these messages of the path. */
  count: (messages: readonly Message[]) => Promise<number>;
  contextLength: number;
  /** Tokens that the reply may have; null: no limit. */
  maxTokens: number | null;
}

/** What a reply gets at least, if it has no limit of its own, and if that is not more than a quarter of the context. */
const replyTokensMin = 1_024;

/** Tokens of the context that are kept free for the reply. */
export function replyReserve(contextLength: number, maxTokens: number | null): number {
  return Math.min(maxTokens ?? replyTokensMin, Math.floor(contextLength / 4));
}

/** After a cut, so much of the context is used at most: the rest is for the next turns. */
const shareAfterCut = 0.75;

/** Where a path can begin: at each question. The last one always stays. */
export function findCuts(path: readonly Message[]): number[] {
  return path.flatMap(({ role }, at) => (role === "user" ? [at] : []));
}

/** How many of the first messages to leave out; 0 if all fit. If not even the last turn fits, all others are left out. */
export async function countLeftOut({
  path,
  count,
  contextLength,
  maxTokens,
}: RollingOptions): Promise<number> {
  const reserve = replyReserve(contextLength, maxTokens);
  const cuts = findCuts(path);
  const last = cuts.at(-1) ?? 0;
  const begin = Math.min(lastCut(path), last);
  const fits = async (cut: number, limit: number) => (await count(path.slice(cut))) + reserve <= limit;
  if (await fits(begin, contextLength)) return begin;
  // The first cut that fits, by bisection: the later the cut, the shorter the prompt.
  const later = cuts.filter((cut) => cut > begin);
  let low = 0;
  let high = later.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await fits(later[middle] ?? last, contextLength * shareAfterCut)) high = middle;
    else low = middle + 1;
  }
  return later[low] ?? last;
}

/** Where the request before was cut. */
function lastCut(path: readonly Message[]): number {
  const reply = path.findLast(
    (message) => message.role === "assistant" && message.reply.leftOut !== undefined,
  );
  const cut = reply?.role === "assistant" ? (reply.reply.leftOut ?? 0) : 0;
  // A branch may have fewer messages there than the one of that time.
  return path[cut]?.role === "user" ? cut : 0;
}
