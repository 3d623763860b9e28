// The normalization of SentencePiece tokenizers. llama.cpp's writes each space as U+2581 and, unless it is told not to, adds one
// before the text; it does nothing else.
import { MlxError } from "../errors.ts";
import type { Step, TokenizerJson } from "./tokenizer-json.ts";

export const SPACE = "\u2581";

/** Whether a space is added before the text. Throws `mlx_unsupported` for any other normalization. */
export function addsSpacePrefix({ normalizer, pre_tokenizer: splits }: TokenizerJson): boolean {
  const all = [...normalizer, ...splits];
  const unknown = all.find((step) => !isPrepend(step) && !isSpaceRule(step));
  if (unknown !== undefined) {
    throw new MlxError(
      "mlx_unsupported",
      `tokenizer.json has the step "${unknown.type}", which llama.cpp does not support for SentencePiece tokenizers.`,
    );
  }
  if (!all.some(writesSpaces)) {
    throw new MlxError(
      "mlx_unsupported",
      "tokenizer.json does not replace spaces by U+2581, which llama.cpp does for SentencePiece tokenizers.",
    );
  }
  return all.some(isPrepend);
}

function isPrepend(step: Step): boolean {
  if (step.type === "Prepend") return step.prepend === SPACE;
  if (step.type !== "Metaspace" || step.replacement !== SPACE) return false;
  return step.prepend_scheme === undefined || step.prepend_scheme === null
    ? step.add_prefix_space !== false
    : step.prepend_scheme !== "never";
}

function isSpaceRule(step: Step): boolean {
  // Once every space is replaced, splitting at spaces does nothing.
  return writesSpaces(step) || (step.type === "Split" && step.pattern?.String === " ");
}

function writesSpaces(step: Step): boolean {
  if (step.type === "Metaspace") return step.replacement === SPACE;
  return step.type === "Replace" && step.pattern?.String === " " && step.content === SPACE;
}
