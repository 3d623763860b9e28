// A text as pieces: what was typed is one, and each token that a model wrote is one, with what could have stood there. Pure.
import type { CompletionChunk } from "@ingle/protocol";

export interface Alternative {
  text: string;
  /** 0 to 1, as the model itself held it. */
  share: number;
}

export interface Piece {
  text: string;
  /** 0 to 1; null for what was typed, and where it is not known. */
  share: number | null;
  /** The likeliest tokens in its place, itself among them. */
  alternatives: readonly Alternative[];
}

export function typedPiece(text: string): Piece {
  return { text, share: null, alternatives: [] };
}

export function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("");
}

type ChunkChoice = CompletionChunk["choices"][number];

/** The pieces that a chunk brings. Tokens that are parts of a character come as one piece, without alternatives. */
export function piecesOf({ text, logprobs }: Pick<ChunkChoice, "text" | "logprobs">): Piece[] {
  if (text === "") return [];
  if (logprobs === null || logprobs.tokens.join("") !== text) return [typedPiece(text)];
  return logprobs.tokens.flatMap((token, at) => {
    const piece: Piece = {
      text: token,
      share: shareOf(logprobs.token_logprobs[at] ?? 0),
      alternatives: alternativesOf(logprobs.top_logprobs[at] ?? {}),
    };
    return token === "" ? [] : [piece];
  });
}

/** The text up to a piece, with another token in its place: what a model goes on from. */
export function withAlternative(pieces: readonly Piece[], at: number, { text, share }: Alternative): Piece[] {
  const alternatives = pieces[at]?.alternatives ?? [];
  return [...pieces.slice(0, at), { text, share, alternatives }];
}

/** Parts of characters cannot be gone on from as text. */
function alternativesOf(likeliest: Readonly<Record<string, number>>): Alternative[] {
  return Object.entries(likeliest)
    .filter(([text]) => text !== "" && !text.startsWith("bytes:"))
    .map(([text, logprob]) => ({ text, share: shareOf(logprob) }))
    .toSorted((a, b) => b.share - a.share);
}

function shareOf(logprob: number): number {
  return Math.min(1, Math.exp(logprob));
}
