// The passages of a chat's documents that belong to its last question: they are found when it is first answered, stored with it, and sent with it
// from then on, so that the prompts of later questions begin alike. This chunk is loaded with the first chat that has a document.
import { documentsOf } from "../chats/chat-storage.ts";
import { chatStorage, showMessages } from "../chats/chat-store.ts";
import type { Conversation, Message } from "../chats/conversation.ts";
import { knownContext } from "../connection/connection.ts";
import type { StreamedChatBody } from "./chat-request.ts";
import { passagesBudget } from "../retrieval/passage-size.ts";
import { embedderOf } from "./embedder.ts";
import { findPassages } from "./find-passages.ts";
import { countRequest, contextLengthOf } from "./request-size.ts";
import { planSearch, type SearchPlan } from "./searched-documents.ts";

/** How far a document is read for its passages. */
export interface ReadingProgress {
  name: string;
  /** Passages. */
  done: number;
  all: number;
}

export interface PassagesOptions {
  conversation: Conversation;
  /** From the first message to the question. */
  path: readonly Message[];
  /** Those that answer; the first counts tokens. */
  models: readonly string[];
  bodyOf: (path: readonly Message[]) => StreamedChatBody;
  /** Gets null at the end. */
  onProgress: (progress: ReadingProgress | null) => void;
  signal: AbortSignal;
}

/** The path with the passages of its question; the same path if no document is searched. */
export async function withPassages(options: PassagesOptions): Promise<readonly Message[]> {
  const { conversation, path, models, onProgress, signal } = options;
  const question = path.at(-1);
  const [model] = models;
  if (question === undefined || model === undefined) return path;
  const plan = await planOf(options, model);
  const documents = documentsOf(plan.path).filter(({ isSearched }) => isSearched);
  if (documents.length === 0) return path;
  try {
    const found = await findPassages({
      documents,
      question: question.text,
      budget: plan.budget,
      conversationId: conversation.id,
      model,
      embedder: embedderOf(conversation.settings.embedder),
      onProgress,
      signal,
    });
    const whole = plan.path.map((each) => (each.id === question.id ? { ...each, found } : each));
    const changed = whole.filter((each, at) => each !== path[at]);
    await (await chatStorage()).saveMessages(changed);
    showMessages(conversation.id, changed);
    return whole;
  } finally {
    onProgress(null);
  }
}

async function planOf(options: PassagesOptions, model: string): Promise<SearchPlan> {
  const { conversation, path, models, bodyOf, signal } = options;
  const { maxTokens, rolling = false } = conversation.settings;
  const lengths = [await contextLengthOf(model, signal), ...models.slice(1).map(knownContext)];
  const known = lengths.filter((length) => length !== null);
  if (known.length === 0) return { path, budget: passagesBudget(null) };
  const count = (sent: readonly Message[]) => countRequest(bodyOf(sent), signal);
  return planSearch({ path, count, contextLength: Math.min(...known), maxTokens, rolls: rolling });
}
