// The passages of a chat's documents that belong to its last question: they are found when it is first answered, stored with it, and sent with it
// from then on, so that the prompts of later questions begin alike. This chunk is loaded with the first chat that has a document.
import { textDocuments } from "../conversations/chat-storage.ts";
import { chatStorage, showMessages } from "../conversations/chat-store.ts";
import type { Conversation, Message } from "../conversations/conversation.ts";
import type { ReadingProgress } from "../conversations/live-replies.ts";
import { knownContext } from "../connection/connection.ts";
import type { StreamedChatBody } from "./chat-request.ts";
import { passagesBudget } from "../retrieval/split-text.ts";
import { chooseEmbedder } from "../conversations/current-chat.ts";
import { findPassages } from "./find-passages.ts";
import { countRequest, readContextLength } from "./request-size.ts";
import { planSearch, type SearchPlan } from "./searched-documents.ts";

export interface PassagesOptions {
  conversation: Conversation;
  /** From the first message to the question. */
  path: readonly Message[];
  /** Those that answer; the first counts tokens. */
  models: readonly string[];
  toBody: (path: readonly Message[]) => StreamedChatBody;
  /** Gets null at the end. */
  onProgress: (progress: ReadingProgress | null) => void;
  signal: AbortSignal;
}

/** The path with the passages of its question; the same path if no document is searched. */
export async function addPassages(options: PassagesOptions): Promise<readonly Message[]> {
  const { conversation, path, models, onProgress, signal } = options;
  const question = path.at(-1);
  const [model] = models;
  if (question === undefined || model === undefined) return path;
  const plan = await planPassages(options, model);
  const documents = textDocuments(plan.path).filter(({ isSearched }) => isSearched);
  if (documents.length === 0) return path;
  try {
    const found = await findPassages({
      documents,
      question: question.text,
      budget: plan.budget,
      conversationId: conversation.id,
      model,
      embedder: chooseEmbedder(conversation.settings.embedder),
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

async function planPassages(options: PassagesOptions, model: string): Promise<SearchPlan> {
  const { conversation, path, models, toBody, signal } = options;
  const { maxTokens, rolling = false } = conversation.settings;
  const lengths = [await readContextLength(model, signal), ...models.slice(1).map(knownContext)];
  const known = lengths.filter((length) => length !== null);
  if (known.length === 0) return { path, budget: passagesBudget(null) };
  const count = (sent: readonly Message[]) => countRequest(toBody(sent), signal);
  return planSearch({ path, count, contextLength: Math.min(...known), maxTokens, rolls: rolling });
}
