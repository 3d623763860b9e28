// Text to tokens and back, and the model's chat template. Belongs to a Model and lives as long as it.
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { Message } from "./messages.ts";
import { plainChat } from "./chat-preparation.ts";
import { fromNative, type NativeModel } from "./native.ts";

export const ChatTemplateOptions = z
  .object({
    /** Only false is offered: the template's text. For tokens, tokenize the text. */
    tokenize: z.literal(false).default(false),
    /** Ends the prompt with the opening of the assistant's turn. */
    addGenerationPrompt: z.boolean().default(true),
  })
  .meta({ id: "ChatTemplateOptions" });
export type ChatTemplateOptions = z.input<typeof ChatTemplateOptions>;

export interface EncodeOptions {
  /**
   * Adds the tokens that the model wants at the start (and end) of a text. One that begins with the beginning token
   * itself has it once. Default true.
   */
  addSpecial?: boolean;
  /** Reads texts such as `<|im_start|>` as the special tokens they name. Default true. */
  parseSpecial?: boolean;
}

export class Tokenizer {
  readonly #model: NativeModel;

  constructor(model: NativeModel) {
    this.#model = model;
  }

  /** Token ids of `text`. */
  async encode(text: string, options: EncodeOptions = {}): Promise<Int32Array> {
    const { addSpecial = true, parseSpecial = true } = options;
    return fromNative(this.#model.tokenize(text, { addSpecial, parseSpecial }));
  }

  /**
   * Text of token ids; special tokens are written out when `specials` is true. Throws `invalid_request` for an id
   * outside the vocabulary.
   */
  async decode(tokens: Iterable<number>, options: { specials?: boolean } = {}): Promise<string> {
    const ids = toIds(tokens, this.#model.info.vocabularySize, "tokens");
    const unparseSpecial = options.specials ?? false;
    return fromNative(this.#model.detokenize(ids, { removeSpecial: !unparseSpecial, unparseSpecial }));
  }

  /**
   * The bytes of each token, which may be a part of a character; special tokens are written out. Throws
   * `invalid_request` for an id outside the vocabulary.
   */
  async pieces(tokens: Iterable<number>): Promise<Uint8Array[]> {
    const ids = toIds(tokens, this.#model.info.vocabularySize, "tokens");
    const { bytes, ends } = await fromNative(this.#model.pieces(ids));
    return Array.from(ends, (end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  }

  /**
   * The prompt that the model's chat template makes of a conversation. Throws `invalid_request` for what is no conversation
   * and for `tokenize: true`, or `template_failed`.
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
        "The template's text is what there is (tokenize: false), with or without addGenerationPrompt. `encode()` makes tokens of it.",
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

/** Ids as the engine takes them. Throws `invalid_request`, for the field `param`, when one is outside the vocabulary. */
export function toIds(tokens: Iterable<number>, vocabularySize: number, param: string): Int32Array {
  const given = tokens instanceof Int32Array ? tokens : [...tokens];
  for (const token of given) {
    if (Number.isInteger(token) && token >= 0 && token < vocabularySize) continue;
    throw new EngineError("invalid_request", `${param}: token ${token} is outside this model's vocabulary.`, {
      details: { param },
    });
  }
  return given instanceof Int32Array ? given : Int32Array.from(given);
}
