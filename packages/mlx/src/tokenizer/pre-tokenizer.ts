// Determines which of llama.cpp's pre-tokenizers a tokenizer uses. llama.cpp's converter recognizes them by the tokens of a test
// text; this compares the rules themselves, which does not require running a tokenizer. Names that llama.cpp treats alike count
// as one here.
import { MlxError } from "../errors.ts";
import type { Step, TokenizerJson } from "./tokenizer-json.ts";

/** The endings that are split off English words. */
const ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const BEFORE = String.raw`[^\r\n\p{L}\p{N}]?`;
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;

const words = (digits: string): string =>
  String.raw`${ENDINGS}|${BEFORE}\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
const casedWords = (ending: string, digits: string): string =>
  String.raw`${BEFORE}${UPPER}*${LOWER}+${ending}|${BEFORE}${UPPER}+${LOWER}*${ending}|${digits}` +
  String.raw`| ?[^\s\p{L}\p{N}]+[\r\n/]*|${SPACES}`;

const THREE_DIGITS = String.raw`\p{N}{1,3}`;
const ONE_DIGIT = String.raw`\p{N}`;
/** The last step: bytes become letters, with or without splitting by GPT-2's rule first. */
const BYTES = "bytes";
const GPT2_BYTES = "bytes, split as GPT-2 does";
const DIGITS = "single digits";

/** llama.cpp's name, by the steps. */
const known: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "llama-bpe": [words(THREE_DIGITS), BYTES],
    qwen2: [words(ONE_DIGIT), BYTES],
    tekken: [casedWords("", ONE_DIGIT), BYTES],
    "gpt-4o": [casedWords(`${ENDINGS}?`, THREE_DIGITS), BYTES],
    "gpt-2": [GPT2_BYTES],
    smollm: [DIGITS, GPT2_BYTES],
    "deepseek-coder": [
      "[\r\n]",
      String.raw`\s?\p{L}+`,
      String.raw`\s?\p{P}+`,
      "[一-龥ࠀ-一가-퟿]+",
      DIGITS,
      BYTES,
    ],
  }).map(([id, steps]) => [steps.join("\n"), id]),
);

/** Longer rules are cut in the error message. */
const SHOWN_LENGTH_MAX = 300;

/** The value of `tokenizer.ggml.pre`. Throws `mlx_unsupported` for rules that llama.cpp does not have. */
export function detectPreTokenizer(tokenizer: TokenizerJson, modelType: string): string {
  // NFC composes letters. llama.cpp does not, and its converter ignores that too.
  const isPlain = tokenizer.normalizer.every(({ type }) => type === "NFC");
  const steps = tokenizer.pre_tokenizer.map(splitRule);
  const id = isPlain ? known.get(steps.join("\n")) : undefined;
  if (id === undefined) {
    const changes = tokenizer.normalizer.map(({ type }) => type);
    const found = [...changes, ...steps].join(", then ").slice(0, SHOWN_LENGTH_MAX);
    throw new MlxError(
      "mlx_unsupported",
      `llama.cpp does not support this tokenizer's way of splitting texts: ${found === "" ? "none at all" : found}.`,
    );
  }
  if (id !== "llama-bpe") return id;
  if (modelType.startsWith("lfm2")) return "lfm2";
  // dbrx has the same rule, but also merges words that are tokens as a whole.
  return tokenizer.model.ignore_merges === true ? id : "dbrx";
}

function splitRule(step: Step): string {
  if (step.type === "ByteLevel" && step.add_prefix_space !== true)
    return step.use_regex === false ? BYTES : GPT2_BYTES;
  if (step.type === "Digits" && step.individual_digits === true) return DIGITS;
  // Every character matches one of these rules, so removing what does not match removes nothing.
  const isSplit =
    (step.behavior === "Isolated" && step.invert !== true) ||
    (step.behavior === "Removed" && step.invert === true);
  if (step.type === "Split" && isSplit) return step.pattern?.Regex ?? `"${step.pattern?.String ?? ""}"`;
  return `an unknown ${step.type}`;
}
