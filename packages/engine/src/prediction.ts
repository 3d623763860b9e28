// A request's prediction of its reply, as the tokens that the engine drafts from.
import type { Model } from "./model.ts";

/** How much of a prediction is used, in UTF-16 units: about 250,000 tokens of English. */
const usedMax = 1_048_576;

/** A reply is no longer than the context, so neither is what is drafted of it. */
export async function predictionTokens(
  prediction: string,
  { info, tokenizer }: Pick<Model, "info" | "tokenizer">,
): Promise<Int32Array> {
  if (prediction === "") return new Int32Array();
  const options = { addSpecial: false, parseSpecial: false };
  const tokens = await tokenizer.encode(prediction.slice(0, usedMax), options);
  return tokens.slice(0, info.contextLength);
}
