// Prepares a checked request for the engine: the tokens of its prompt, the constraint and the parser of its reply, and the tokens
// that are drafted from its prediction.
import { EngineError } from "../base/errors.ts";
import { checkAudios } from "../media/audio/audio-header.ts";
import { audioNotSupported } from "../media/audio/audio-limits.ts";
import {
  awaitOrAbort,
  fromNative,
  type NativeChat,
  type NativeConstraint,
  type NativeModel,
  type NativePrompt,
} from "../native/addon.ts";
import { prepareForTemplate, type ChatPreparation, type ModelTemplate } from "../prompt/chat-preparation.ts";
import { imageNotSupported, imagePrompt } from "../prompt/image-prompt.ts";
import { collectAudios, countImages } from "../prompt/messages.ts";
import { replyGrammar } from "../prompt/response-format.ts";
import type { Tokenizer } from "../prompt/tokenizer.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import type { PreparedPrompt } from "./native-request.ts";
import { readContent, type ReadReply } from "./reply-reader.ts";
import { noThought, prepareThought } from "./thought-rules.ts";

/** What prompts are prepared with. */
export interface PromptParts {
  native: NativeModel;
  tokenizer: Tokenizer;
  template: ModelTemplate;
}

/** Rejects with `invalid_request`, with what the model does not support, or with the signal's reason. */
export async function preparePrompt(
  request: CheckedGenerationRequest,
  { native, tokenizer, template }: PromptParts,
  signal?: AbortSignal,
): Promise<PreparedPrompt> {
  if (request.messages === undefined) {
    const { tokens, images } = await imagePrompt(request, tokenizer, native);
    return {
      tokens,
      images,
      audioTokens: 0,
      stops: [],
      constraint: await prepareConstraint(request, native),
      thought: noThought,
    };
  }
  const audios = collectAudios(request.messages);
  if (audios.length > 0) {
    if (!native.info.readsAudio) throw audioNotSupported("messages");
    checkAudios(audios);
  }
  if (countImages(request.messages) > 0 && !native.info.readsImages) throw imageNotSupported("messages");
  const prepared = prepareForTemplate(request, template);
  const { chat, read } = prepared;
  const { parser, thought: syntax, ...rest } = await prepareChat(native, prepared, { request, signal });
  const prompt = { ...rest, thought: await prepareThought(request, syntax, tokenizer) };
  if (parser === null || (read !== undefined && !chat.contentHasCalls)) return { ...prompt, read };
  const parse: ReadReply = (text, isPartial) => native.parseReply(parser, text, isPartial);
  return { ...prompt, read: read === undefined ? parse : readContent(parse, read) };
}

async function prepareConstraint(
  request: CheckedGenerationRequest,
  native: NativeModel,
): Promise<NativeConstraint | null> {
  const grammar = replyGrammar(request.responseFormat);
  return grammar === "" ? null : withParam(request, native.prepareGrammar(grammar));
}

/** Rejects with the signal's reason, and with `invalid_request` or `audio_invalid` for the field that has the fault. */
async function prepareChat(
  native: NativeModel,
  { chat, promptChat }: ChatPreparation,
  {
    request,
    signal,
  }: { request: Pick<CheckedGenerationRequest, "responseFormat">; signal: AbortSignal | undefined },
): Promise<NativePrompt> {
  const prepare = async (of: NativeChat): Promise<NativePrompt> => {
    const preparation = native.prepareChat(of);
    return await awaitOrAbort(signal, () => preparation.abort(), withParam(request, preparation.prompt));
  };
  const prepared = await prepare(chat);
  if (promptChat === undefined) return prepared;
  const { tokens, images, audioTokens } = await prepare(promptChat);
  return { ...prepared, tokens, images, audioTokens };
}

/** Awaits a native promise. An invalid audio or grammar becomes an error about the field that it comes from. */
async function withParam<T>(
  { responseFormat }: Pick<CheckedGenerationRequest, "responseFormat">,
  pending: Promise<T>,
): Promise<T> {
  try {
    return await fromNative(pending);
  } catch (error) {
    if (EngineError.is(error) && error.code === "audio_invalid")
      throw new EngineError(error.code, error.message, { cause: error, details: { param: "messages" } });
    if (!EngineError.is(error) || error.code !== "invalid_request") throw error;
    const param = {
      text: "tools",
      grammar: "responseFormat.grammar",
      json: "responseFormat",
      json_schema: "responseFormat",
      regex: "responseFormat.regex",
      choice: "responseFormat.choice",
    };
    throw new EngineError(error.code, error.message, {
      cause: error,
      details: { param: param[responseFormat.type] },
    });
  }
}

/** How much of a prediction is used, in UTF-16 units: about 250,000 tokens of English. */
const usedMax = 1_048_576;

/** A reply is no longer than the context, so neither is what is drafted of it. */
export async function predictionTokens(
  prediction: string,
  { info, tokenizer }: { info: { contextLength: number }; tokenizer: Tokenizer },
): Promise<Int32Array> {
  if (prediction === "") return new Int32Array();
  const options = { addSpecial: false, parseSpecial: false };
  const tokens = await tokenizer.encode(prediction.slice(0, usedMax), options);
  return tokens.slice(0, info.contextLength);
}
