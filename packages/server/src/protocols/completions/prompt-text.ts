// The text of a prompt, for `echo`. Used by routes/completions.ts.
import type { Model } from "@ingle/engine";

/** Of tokens, the text that is these tokens as a prompt: without the token that every text begins with anyway. */
export async function promptText(prompt: string | Int32Array, { info, tokenizer }: Model): Promise<string> {
  if (typeof prompt === "string") return prompt;
  const isBegun = info.addsBos && prompt[0] === info.tokens.bos;
  return tokenizer.decode(isBegun ? prompt.subarray(1) : prompt, { specials: true });
}
