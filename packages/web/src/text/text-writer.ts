// The text of the plain-text page, and the model that continues it.
import { computed, signal } from "@preact/signals";

import { chatModels } from "../conversations/current-chat.ts";
import { client } from "../connection/connection.ts";
import { announce, showError, showToast } from "../design/toast.tsx";
import { createFrameBatch } from "../replies/frame-batch.ts";
import { plainText } from "../strings/pages.ts";
import {
  toPieces,
  joinPieces,
  typedPiece,
  withAlternative,
  type Alternative,
  type Piece,
} from "./token-pieces.ts";

/** The server's limit of alternatives per token. */
const alternativesMax = 5;

export const pieces = signal<readonly Piece[]>([]);
export const maxTokensToWrite = signal(64);
export const temperature = signal(1);

/** The index of the piece whose alternatives are shown. */
export const chosenPieceIndex = signal<number | null>(null);

const picked = signal<string | null>(null);

/** The model that writes: the chosen one, or a loaded one, or the first. */
export const textModel = computed<string | undefined>(() => {
  const models = chatModels.value;
  const chosen = models.find(({ id }) => id === picked.value);
  return (chosen ?? models.find(({ status }) => status === "loaded") ?? models[0])?.id;
});

export function pickModel(id: string): void {
  picked.value = id;
}

const stop = signal<AbortController | null>(null);

export const isWriting = computed(() => stop.value !== null);

export function stopWriting(): void {
  stop.value?.abort();
}

/** Replaces the whole text by what the user typed. */
export function typeText(text: string): void {
  chosenPieceIndex.value = null;
  pieces.value = text === "" ? [] : [typedPiece(text)];
}

/** Replaces a token by an alternative, cuts the text there, and continues it. */
export async function continueFrom(at: number, alternative: Alternative): Promise<void> {
  chosenPieceIndex.value = null;
  pieces.value = withAlternative(pieces.value, at, alternative);
  await continueText();
}

/** Has the model continue the text. */
export async function continueText(): Promise<void> {
  const model = textModel.value;
  if (model === undefined || stop.value !== null) return;
  const controller = new AbortController();
  stop.value = controller;
  const written = [...pieces.value];
  const { length: begun } = written;
  const frames = createFrameBatch(() => {
    pieces.value = [...written];
    return false;
  });
  const body = {
    model,
    prompt: joinPieces(written),
    max_tokens: maxTokensToWrite.value,
    temperature: temperature.value,
    logprobs: alternativesMax,
  };
  try {
    for await (const { choices } of await client.completions.stream(body, { signal: controller.signal })) {
      for (const choice of choices) written.push(...toPieces(choice));
      frames.request();
    }
    if (written.length === begun) showToast({ text: plainText.ended });
    else announce(plainText.written);
  } catch (error) {
    if (!controller.signal.aborted) showError(error);
  } finally {
    frames.finish();
    stop.value = null;
  }
}
