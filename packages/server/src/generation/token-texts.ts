// The texts of tokens: the bytes of each one, and the text of a prompt that may be given as tokens.
import type { Model } from "@ingle/engine";
import { WireError } from "../wire-error.ts";

/** Maximum number of tokens for `with_pieces`: each becomes an object, which blocks the event loop. */
const piecesMax = 65_536;

/** The bytes of each token. Throws `invalid_request` if there are too many. */
export async function tokenPieces(model: Model, tokens: Int32Array): Promise<Uint8Array[]> {
  if (tokens.length > piecesMax) {
    const message = `with_pieces takes at most ${piecesMax} tokens, and this text has ${tokens.length}`;
    throw new WireError("invalid_request", message, { param: "with_pieces" });
  }
  return model.tokenizer.pieces(tokens);
}

/** The text of a prompt, for `echo`. For token ids, without the BOS token that is added to every text. */
export async function promptText(prompt: string | Int32Array, { info, tokenizer }: Model): Promise<string> {
  if (typeof prompt === "string") return prompt;
  const hasBos = info.addsBos && prompt[0] === info.tokens.bos;
  return tokenizer.decode(hasBos ? prompt.subarray(1) : prompt, { specials: true });
}
