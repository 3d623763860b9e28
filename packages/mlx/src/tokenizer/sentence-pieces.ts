// What happens to spaces before sentence pieces see a text. llama.cpp's tokenizer of this kind writes each as U+2581 and, unless
// it is told not to, puts one before the text; nothing else is done to the text there.
import { MlxError } from "../errors.ts";
import type { Step, TokenizerJson } from "./tokenizer-json.ts";

export const SPACE = "\u2581";

/** Whether a space is put before the text. Throws `mlx_unsupported` where more is done to it than that. */
export function addsSpacePrefix({ normalizer, pre_tokenizer: splits }: TokenizerJson): boolean {
  const all = [...normalizer, ...splits];
  const unknown = all.find((step) => !isPrepend(step) && !isSpaceRule(step));
  if (unknown !== undefined) {
    throw new MlxError(
      "mlx_unsupported",
      `tokenizer.json changes texts by a step "${unknown.type}" that llama.cpp does not take with sentence pieces.`,
    );
  }
  if (!all.some(writesSpaces)) {
    throw new MlxError(
      "mlx_unsupported",
      "tokenizer.json does not write spaces as sentence pieces do, so llama.cpp would split its texts otherwise.",
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
  // Once every space is another letter, splitting at spaces does nothing.
  return writesSpaces(step) || (step.type === "Split" && step.pattern?.String === " ");
}

function writesSpaces(step: Step): boolean {
  if (step.type === "Metaspace") return step.replacement === SPACE;
  return step.type === "Replace" && step.pattern?.String === " " && step.content === SPACE;
}
