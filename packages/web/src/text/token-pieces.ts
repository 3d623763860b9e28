// A text as pieces: the typed text is one, and each generated token is one, with its alternatives. Pure.
import type { CompletionChunk } from "@ingle/protocol";

export interface Alternative {
  text: string;
  /** Its probability, 0 to 1. */
  share: number;
}

export interface Piece {
  text: string;
  /** Its probability, 0 to 1; null if it was typed or is unknown. */
  share: number | null;
  /** The most likely tokens in its place, including itself. */
  alternatives: readonly Alternative[];
}

export function typedPiece(text: string): Piece {
  return { text, share: null, alternatives: [] };
}

export function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("");
}

type ChunkChoice = CompletionChunk["choices"][number];

/** The pieces of a chunk. Tokens that are parts of one character become one piece without alternatives. */
export function toPieces({ text, logprobs }: Pick<ChunkChoice, "text" | "logprobs">): Piece[] {
  if (text === "") return [];
  if (logprobs === null || logprobs.tokens.join("") !== text) return [typedPiece(text)];
  return logprobs.tokens.flatMap((token, at) => {
    const piece: Piece = {
      text: token,
      share: toShare(logprobs.token_logprobs[at] ?? 0),
      alternatives: toAlternatives(logprobs.top_logprobs[at] ?? {}),
    };
    return token === "" ? [] : [piece];
  });
}

/** The text up to a piece, with an alternative in its place. */
export function withAlternative(pieces: readonly Piece[], at: number, { text, share }: Alternative): Piece[] {
  const alternatives = pieces[at]?.alternatives ?? [];
  return [...pieces.slice(0, at), { text, share, alternatives }];
}

/** Omits partial characters, which cannot be continued as text. */
function toAlternatives(likeliest: Readonly<Record<string, number>>): Alternative[] {
  return Object.entries(likeliest)
    .filter(([text]) => text !== "" && !text.startsWith("bytes:"))
    .map(([text, logprob]) => ({ text, share: toShare(logprob) }))
    .toSorted((a, b) => b.share - a.share);
}

function toShare(logprob: number): number {
  return Math.min(1, Math.exp(logprob));
}
