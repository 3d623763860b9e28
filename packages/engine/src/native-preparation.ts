// Prepares a chat natively: its tokens, and the constraint and the parser of the reply.
import type { ChatPreparation } from "./chat-preparation.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import { abortedWith, type NativeChat, type NativeModel, type NativePrompt } from "./native.ts";
import { ofParam } from "./prompt-errors.ts";

/** Rejects with the signal's reason, and with the errors of `ofParam`. */
export async function prepareNatively(
  native: NativeModel,
  { chat, promptChat }: ChatPreparation,
  { request, signal }: { request: CheckedGenerationRequest; signal: AbortSignal | undefined },
): Promise<NativePrompt> {
  const prepare = async (of: NativeChat): Promise<NativePrompt> => {
    const preparation = native.prepareChat(of);
    return await abortedWith(signal, () => preparation.abort(), ofParam(request, preparation.prompt));
  };
  const prepared = await prepare(chat);
  if (promptChat === undefined) return prepared;
  const { tokens, images, audioTokens } = await prepare(promptChat);
  return { ...prepared, tokens, images, audioTokens };
}
