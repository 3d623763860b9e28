// How many tokens the parts of a draft have, so that a message that is too long is noticed before it is sent.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { openPath } from "../conversations/chat-store.ts";
import type { TextAttachment } from "../conversations/conversation.ts";
import { client, knownContext, findModel } from "../connection/connection.ts";
import { fileText } from "../replies/chat-request.ts";
import { passagesBudget } from "../retrieval/split-text.ts";
import { currentChoice } from "../conversations/current-chat.ts";
import { readDraft } from "./drafts.ts";

/** By model and attachment. */
const counted = signal<ReadonlyMap<string, number>>(new Map());

/** A token of most texts is about this long: fewer characters in most languages than in English. */
const charactersPerToken = 4;

function countKey(model: string, { id }: TextAttachment): string {
  return `${model}\n${id}`;
}

/** The tokens of an attachment for the first chosen model; undefined while they are counted, and if the model is not loaded. */
export function useTokenCount(attachment: TextAttachment): number | undefined {
  const [model] = currentChoice.value.models;
  // Counting would load a model, which the user has not asked for.
  const counting = model !== undefined && findModel(model)?.status === "loaded" ? model : undefined;
  useEffect(() => {
    if (counting === undefined || counted.peek().has(countKey(counting, attachment))) return undefined;
    const stop = new AbortController();
    void count(counting, attachment, stop.signal);
    return () => stop.abort();
  }, [counting, attachment]);
  return counting === undefined ? undefined : counted.value.get(countKey(counting, attachment));
}

async function count(model: string, attachment: TextAttachment, end: AbortSignal): Promise<void> {
  const content = fileText(attachment.name, attachment.text);
  try {
    const { count: tokens } = await client.tokenize({ model, content, add_special: false }, { signal: end });
    counted.value = new Map(counted.value).set(countKey(model, attachment), tokens);
  } catch {
    // The estimate stays.
  }
}

interface DraftSize {
  /** Tokens of the whole draft, of the context that is left, and of all of the context. */
  draft: number;
  left: number;
  all: number;
  /** The names of documents of which only passages are sent, by the user's choice or because the rest does not fit. */
  searched: readonly string[];
  /** Whether the draft fits then. */
  fits: boolean;
}

/** The size of a draft; null if nothing is known of the context. Sending counts again, with the model's own tokens. */
export function measureDraft(id: string): DraftSize | null {
  const [model] = currentChoice.value.models;
  const all = model === undefined ? null : knownContext(model);
  if (model === undefined || all === null) return null;
  const { text, attachments } = readDraft(id);
  const left = Math.max(0, all - (usedTokens() ?? 0));
  const budget = passagesBudget(all);
  const sized = attachments
    .flatMap((each) => (each.kind === "text" ? { ...each, tokens: attachmentTokens(model, each) } : []))
    .toSorted((a, b) => a.tokens - b.tokens);
  const sumTokens = (files: readonly { tokens: number }[]) =>
    files.reduce((sum, { tokens }) => sum + tokens, 0);
  const draft = sumTokens(sized) + Math.ceil(text.length / charactersPerToken);
  const searched = sized.filter(({ isSearched }) => isSearched === true);
  const whole = sized.filter(({ isSearched }) => isSearched !== true);
  const sent = () => draft - sumTokens(searched) + (searched.length > 0 ? budget : 0);
  while (sent() > left && (whole.at(-1)?.tokens ?? 0) > budget) searched.push(...whole.splice(-1));
  return { draft, left, all, searched: searched.map(({ name }) => name), fits: sent() <= left };
}

function attachmentTokens(model: string, attachment: TextAttachment): number {
  return (
    counted.value.get(countKey(model, attachment)) ?? Math.ceil(attachment.text.length / charactersPerToken)
  );
}

/** Tokens of the open path up to its last reply, as the server counted them; null before the first. */
export function usedTokens(): number | null {
  const last = openPath.value.findLast(
    (message) => message.role === "assistant" && message.reply.figures !== null,
  );
  if (last?.role !== "assistant" || last.reply.figures === null) return null;
  const { promptTokens, completionTokens } = last.reply.figures;
  return promptTokens === null ? null : promptTokens + completionTokens;
}
