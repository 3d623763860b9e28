// A path of messages becomes the body of a chat completion. Pure: the data of images is handed in.
import type { ChatCompletionBody } from "@ingle/protocol";

import type { Attachment, ChatSettings, Message } from "../chats/conversation.ts";

export interface ChatRequest {
  model: string;
  /** From the first message to the one that is to be answered, or to be gone on with. */
  path: readonly Message[];
  settings: ChatSettings;
  /** How many answers to the same prompt. */
  answers: number;
  /** The last message is the model's own, and the reply goes on with it. */
  isContinuation: boolean;
  /** `data:` URLs of images by their ids. */
  images: ReadonlyMap<string, string>;
}

/** A body that is streamed. */
export type StreamedChatBody = ChatCompletionBody & { stream?: true };

type SamplingFields = Partial<
  Record<"temperature" | "top_p" | "top_k" | "min_p" | "repeat_penalty" | "max_tokens", number>
>;

type WireMessage = ChatCompletionBody["messages"][number];

/** The body; what the settings leave open is not sent, so that the server's own defaults hold. */
export function toChatBody(request: ChatRequest): StreamedChatBody {
  const { model, settings, answers, isContinuation } = request;
  return {
    model,
    messages: toMessages(request),
    ...samplingOf(settings),
    ...(settings.effort === null ? {} : { reasoning_effort: settings.effort }),
    ...(answers > 1 ? { n: answers } : {}),
    ...(isContinuation ? { continue_final_message: true } : {}),
    // So that a reply that is stopped has its figures, too.
    timings_per_token: true,
  };
}

/** The messages as the model is told of them: also what is counted to know what a draft costs. */
export function toMessages({
  path,
  settings,
  images,
}: Pick<ChatRequest, "path" | "settings" | "images">): WireMessage[] {
  const system = settings.systemPrompt.trim();
  return [
    ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
    ...path.map((message) => toMessage(message, images)),
  ];
}

/** The sampling fields by their wire names, those alone that are set. */
export function samplingOf(settings: ChatSettings): SamplingFields {
  const fields = {
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    min_p: settings.minP,
    repeat_penalty: settings.repeatPenalty,
    max_tokens: settings.maxTokens,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

function toMessage(message: Message, images: ReadonlyMap<string, string>): WireMessage {
  if (message.role === "assistant") {
    const { thinking } = message.reply;
    return {
      role: "assistant",
      content: message.text,
      ...(thinking === "" ? {} : { reasoning_content: thinking }),
    };
  }
  const text = [...message.attachments.flatMap(textOf), message.text]
    .filter((part) => part !== "")
    .join("\n\n");
  const urls = message.attachments.flatMap(({ kind, id }) =>
    kind === "image" ? (images.get(id) ?? []) : [],
  );
  if (urls.length === 0) return { role: "user", content: text };
  return {
    role: "user",
    content: [
      ...urls.map((url) => ({ type: "image_url" as const, image_url: { url } })),
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ],
  };
}

/** A file as the model reads it: its name, and its text in a fence that nothing in it closes. */
function textOf(attachment: Attachment): string[] {
  return attachment.kind === "text" ? [fileText(attachment.name, attachment.text)] : [];
}

export function fileText(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `File ${name}:\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
