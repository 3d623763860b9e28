// Builds the body of a chat completion from a path of messages. Pure.
import type { ChatCompletionBody } from "@ingle/protocol";

import type {
  Attachment,
  ChatSettings,
  Message,
  Passage,
  ReplyMessage,
  ToolCall,
  ToolStep,
  UserMessage,
} from "../conversations/conversation.ts";
import { moreFields, settingFields, parseStops } from "../conversations/settings-fields.ts";

export interface ChatRequest {
  model: string;
  /** From the first message to the one to reply to, or the reply to continue. */
  path: readonly Message[];
  settings: ChatSettings;
  /** How many replies to the same prompt. */
  answers: number;
  /** Whether to continue the last message, which is a reply. */
  isContinuation: boolean;
  /** What the model may call; empty: nothing. */
  tools: readonly WireTool[];
  /** Whether it may call them in this reply. */
  mayCall: boolean;
  /** `data:` URLs of images, by attachment id. */
  images: ReadonlyMap<string, string>;
}

export type StreamedChatBody = ChatCompletionBody & { stream?: true };

export type WireTool = NonNullable<ChatCompletionBody["tools"]>[number];

type WireMessage = ChatCompletionBody["messages"][number];

/** The body. Settings that are null are omitted, so that the server's defaults apply. */
export function toChatBody(request: ChatRequest): StreamedChatBody {
  const { model, settings, answers, isContinuation, tools, mayCall } = request;
  return {
    model,
    messages: toMessages(request),
    ...toSamplingFields(settings),
    ...toOutputFields(settings),
    ...(settings.effort === null ? {} : { reasoning_effort: settings.effort }),
    ...((settings.thinkingTokens ?? null) === null
      ? {}
      : { thinking_budget_tokens: settings.thinkingTokens }),
    ...(answers > 1 ? { n: answers } : {}),
    ...(isContinuation ? { continue_final_message: true } : {}),
    ...(tools.length > 0 ? { tools: [...tools] } : {}),
    ...(tools.length > 0 && !mayCall ? { tool_choice: "none" as const } : {}),
    // Gives a stopped reply its figures, too.
    timings_per_token: true,
  };
}

function toMessages({
  path,
  settings,
  images,
}: Pick<ChatRequest, "path" | "settings" | "images">): WireMessage[] {
  const system = settings.systemPrompt.trim();
  return [
    ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
    ...path.flatMap((message) => toWireMessages(message, images)),
  ];
}

const samplingNames = [...settingFields, ...moreFields].map(({ name }) => name);

/** The sampling settings that are not null, by their names on the wire: the same in snake case. */
function toSamplingFields(settings: ChatSettings): Record<string, number> {
  const fields: Record<string, number> = {};
  for (const name of [...samplingNames, "maxTokens", "seed"] as const) {
    const value = settings[name] ?? null;
    if (value !== null) fields[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  return fields;
}

/** Where the reply ends, and its JSON schema. Strict: the reply is valid for all of it, or the server says what it cannot enforce. */
function toOutputFields({
  stop,
  jsonSchema = "",
}: ChatSettings): Pick<ChatCompletionBody, "stop" | "response_format"> {
  const stops = parseStops(stop);
  return {
    ...(stops.length > 0 ? { stop: stops } : {}),
    ...(jsonSchema.trim() === ""
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: "answer", strict: true, schema: JSON.parse(jsonSchema) },
          },
        }),
  };
}

function toWireMessages(message: Message, images: ReadonlyMap<string, string>): WireMessage[] {
  return message.role === "assistant" ? toReplyMessages(message) : [toUserMessage(message, images)];
}

/** The steps with their calls and results, then the text. */
function toReplyMessages({ text, reply: { thinking, steps = [] } }: ReplyMessage): WireMessage[] {
  const before = steps.flatMap(toStepMessages);
  return before.length > 0 && text === "" ? before : [...before, toAssistantMessage({ text, thinking })];
}

function toAssistantMessage({ text, thinking }: { text: string; thinking: string }) {
  const reasoning = thinking === "" ? {} : { reasoning_content: thinking };
  return { role: "assistant" as const, content: text, ...reasoning };
}

function toStepMessages({ text, thinking, calls }: ToolStep): WireMessage[] {
  const asked = calls.map(({ id, name, arguments: written }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: written },
  }));
  return [{ ...toAssistantMessage({ text, thinking }), tool_calls: asked }, ...calls.map(toResultMessage)];
}

/** What the model reads of a call that was stopped with its reply. */
const stoppedResult = "Error: This call was stopped before it returned a result.";

function toResultMessage({ id, name, content }: ToolCall): WireMessage {
  const [first, ...others] = content;
  const isText = others.length === 0 && first?.type === "text";
  const whole = content.length === 0 ? stoppedResult : isText ? first.text : [...content];
  return { role: "tool", tool_call_id: id, name, content: whole };
}

function toUserMessage(message: UserMessage, images: ReadonlyMap<string, string>): WireMessage {
  const { passages = [] } = message.found ?? {};
  const found = passages.length === 0 ? [] : [passagesText(passages)];
  const text = [...message.attachments.flatMap(attachedText), ...found, message.text]
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

function attachedText(attachment: Attachment): string[] {
  const isWhole = attachment.kind === "text" && attachment.isSearched !== true;
  return isWhole ? [fileText(attachment.name, attachment.text)] : [];
}

/** A text file as the model reads it: its name, and its text in a fence longer than any in the text. Pages are paragraphs. */
export function fileText(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const paragraphs = text.replaceAll(/\s*\f\s*/g, "\n\n").replace(/\n$/, "");
  return `File ${name}:\n${fence}\n${paragraphs}\n${fence}`;
}

/** What the model reads of documents that are searched. */
export function passagesText(passages: readonly Passage[]): string {
  const texts = passages.map(({ name, text, ...place }) => fileText(`${name}, ${placeText(place)}`, text));
  return ["These passages of longer files belong to the question:", ...texts].join("\n\n");
}

/** In the language of the prompt, which is not that of the page. */
function placeText({ unit, first, last, of }: Omit<Passage, "name" | "text">): string {
  const place = first === last ? `${unit} ${first}` : `${unit}s ${first} to ${last}`;
  return `${place} of ${of}`;
}
