// Converts text to tokens and back, and formats conversations with the model's chat template. Usable until its model is disposed.
import { z } from "zod";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { Message, plainChat } from "./messages.ts";
import { fromNative, type NativeModel } from "../native/addon.ts";

export const ChatTemplateOptions = z
  .object({
    /** Must be false, the default: the result is text. Use `encode()` to tokenize it. */
    tokenize: z.literal(false).default(false),
    /** Whether the prompt ends with the start of the assistant's turn. Default true. */
    addGenerationPrompt: z.boolean().default(true),
  })
  .meta({ id: "ChatTemplateOptions" });
export type ChatTemplateOptions = z.input<typeof ChatTemplateOptions>;

export interface EncodeOptions {
  /**
   * Whether to add the tokens that start (and end) a text for this model. A text that already starts with the beginning-of-text
   * token does not get another. Default true.
   */
  addSpecial?: boolean;
  /** Whether to parse texts such as `<|im_start|>` as special tokens. Default true. */
  parseSpecial?: boolean;
}

export class Tokenizer {
  readonly #model: NativeModel;

  constructor(model: NativeModel) {
    this.#model = model;
  }

  /** The token ids of a text. */
  async encode(text: string, options: EncodeOptions = {}): Promise<Int32Array> {
    const { addSpecial = true, parseSpecial = true } = options;
    return fromNative(this.#model.tokenize(text, { addSpecial, parseSpecial }));
  }

  /**
   * The text of token ids. `specials` (default false): whether to include special tokens. Throws `invalid_request` for an id outside
   * the vocabulary.
   */
  async decode(tokens: Iterable<number>, options: { specials?: boolean } = {}): Promise<string> {
    const ids = toTokenIds(tokens, this.#model.info.vocabularySize, "tokens");
    const unparseSpecial = options.specials ?? false;
    return fromNative(this.#model.detokenize(ids, { removeSpecial: !unparseSpecial, unparseSpecial }));
  }

  /**
   * The bytes of each token, including special tokens; they may be a partial character. Throws `invalid_request` for an id outside
   * the vocabulary.
   */
  async pieces(tokens: Iterable<number>): Promise<Uint8Array[]> {
    const ids = toTokenIds(tokens, this.#model.info.vocabularySize, "tokens");
    const { bytes, ends } = await fromNative(this.#model.pieces(ids));
    return Array.from(ends, (end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  }

  /**
   * Formats a conversation with the model's chat template. Throws `invalid_request` for invalid messages or options, or
   * `template_failed`.
   */
  async applyChatTemplate(messages: readonly Message[], options: ChatTemplateOptions = {}): Promise<string> {
    const checked = z.array(Message).min(1).safeParse(messages);
    if (!checked.success) {
      throw new EngineError("invalid_request", "messages must be a list of { role, content }.", {
        cause: checked.error,
      });
    }
    const how = ChatTemplateOptions.safeParse(options);
    if (!how.success) {
      throw new EngineError(
        "invalid_request",
        "applyChatTemplate only returns text: tokenize must be false, and addGenerationPrompt true or false. Use encode() to tokenize the text.",
        { cause: how.error, details: { param: how.error.issues[0]?.path.join(".") ?? "" } },
      );
    }
    const { addGenerationPrompt } = how.data;
    const result = await fromNative(
      this.#model.applyChatTemplate(plainChat(checked.data, addGenerationPrompt)),
    );
    return result.prompt;
  }
}

/** Token ids for the engine. Throws `invalid_request` with this `param` for an id outside the vocabulary. */
export function toTokenIds(tokens: Iterable<number>, vocabularySize: number, param: string): Int32Array {
  const given = tokens instanceof Int32Array ? tokens : [...tokens];
  for (const token of given) {
    if (Number.isInteger(token) && token >= 0 && token < vocabularySize) continue;
    throw invalidRequest(param, `token ${token} is outside this model's vocabulary.`);
  }
  return given instanceof Int32Array ? given : Int32Array.from(given);
}
