// Converts a checked chat request for the native engine: messages and tools in the form that the model's chat template supports,
// and the grammar that constrains the reply.
import { randomUUID } from "node:crypto";

import { withoutRefusedTurns } from "./alternating-turns.ts";
import { invalidRequest } from "./errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import { withoutLaterSystem } from "./later-system.ts";
import { textOf, type ContentPart, type Message } from "./messages.ts";
import type { NativeChat, NativeMessage, NativeModelInfo, NativeReply } from "./native.ts";
import { contentRules } from "./response-format.ts";
import { keptRules, eitherRules, SchemaError, wholeGrammarOf } from "./structured/rules.ts";
import { refuseLostReferences, withoutNullTypes } from "./structured/tool-parameters.ts";
import {
  callsBegin,
  callsRules,
  lfm2Begin,
  lfm2End,
  lfm2Rules,
  ofTool,
  readCalls,
  withCallsSpelled,
  withToolsTold,
} from "./tool-syntax.ts";
import { toolRules, unheldTools } from "./tool-rules.ts";
import type { Tool } from "./tools.ts";

export interface ChatPreparation {
  chat: NativeChat;
  /** The chat whose prompt is used instead, where that leaves out tools that the reply may call. */
  promptChat?: NativeChat | undefined;
  /** Parses replies if the chat template does not support tools and so has no native parser. */
  read?: ((text: string, isPartial: boolean) => Promise<NativeReply | null>) | undefined;
}

type ChatRequest = Extract<CheckedGenerationRequest, { messages: unknown }>;

/**
 * What a model's chat template supports, whether the model reasons if a request does not say (default true), and whether special tokens
 * spelled in messages are read as such (default false).
 */
export type TemplateOfModel = Omit<NativeModelInfo["chatTemplate"], "source"> & {
  thinks?: boolean;
  specialTokensInContent?: boolean;
};

/** Letters and digits, which no template escapes or trims, and which no message can contain. */
function newPlaceholder(): string {
  return `markup${randomUUID().replaceAll("-", "")}`;
}

/** Throws `invalid_request`. */
export function prepareForTemplate(request: ChatRequest, template: TemplateOfModel): ChatPreparation {
  const tools = toolsFor(request);
  const listed = tools.filter(({ isDeferred = false }) => !isDeferred);
  const prepared = withTools(request, template, { tools, listed });
  const { chat } = prepared;
  if (listed.length === tools.length || chat.tools.length === 0) return prepared;
  const toolChoice = listed.length === 0 ? "auto" : chat.toolChoice;
  const names = new Set(listed.map(({ name }) => name));
  const told = chat.tools.filter(({ name }) => names.has(name));
  return { ...prepared, promptChat: { ...chat, tools: told, toolChoice } };
}

/** `tools` may be called; the prompt lists only those of `listed` if it is in our syntax. */
function withTools(
  request: ChatRequest,
  template: TemplateOfModel,
  { tools, listed }: { tools: readonly Tool[]; listed: readonly Tool[] },
): ChatPreparation {
  const given = template.writesLaterSystem ? request.messages : withoutLaterSystem(request.messages);
  const named = withNames(given);
  // A reply that must call a tool has no text to constrain.
  const mustCall = tools.length > 0 && request.toolChoice !== "auto";
  const form = mustCall ? "" : contentRules(request.responseFormat);
  const knowsTools = template.writesTools && (form === "" || template.holdsFormOrCalls);
  const mayHold = tools.length > 0 && knowsTools && !template.isLfm2 && !mustCall;
  const held = mayHold
    ? toolRules(tools, template.arguments)
    : unheldTools(tools, !mustCall || template.isLfm2);
  // What a template's own syntax cannot hold to its schema, ours can.
  const isUnheld = mayHold && !held.isHeld;
  const isOurSyntax = tools.length > 0 && (!knowsTools || isUnheld) && !template.isLfm2;
  const writesCalls = template.writesToolCalls && (!isOurSyntax || !template.writesTools);
  const lfm2 =
    template.isLfm2 && !writesCalls ? { begin: newPlaceholder(), end: newPlaceholder() } : undefined;
  const spelled = writesCalls ? named : withCallsSpelled(named, lfm2);
  const messages = withoutRefusedTurns(spelled, template);
  const chat: NativeChat = {
    ...plainChat(isOurSyntax ? withToolsTold(messages, listed) : messages, !request.continueFinalMessage),
    specialTokensInContent: template.specialTokensInContent ?? false,
    continuesLast: request.continueFinalMessage,
    tools: isOurSyntax
      ? []
      : tools.map((tool, at) => toNativeTool(tool, template.writesNullTypes, held.schemas[at])),
    toolRules: isOurSyntax ? "" : held.toolRules,
    argumentRules: isOurSyntax ? [] : held.argumentRules,
    toolChoice: typeof request.toolChoice === "string" ? request.toolChoice : "required",
    // A named tool is called once: otherwise the calls would never end.
    parallelToolCalls: request.parallelToolCalls && typeof request.toolChoice === "string",
    enableThinking: request.thinking ?? template.thinks ?? true,
    templateArguments: Object.entries(request.templateArguments).map(([name, value]) => ({
      name,
      value: JSON.stringify(value),
    })),
    contentRules: form,
    contentHasCalls: false,
    grammar: request.responseFormat.type === "grammar" ? request.responseFormat.grammar : "",
  };
  if (lfm2 !== undefined)
    chat.markup = [
      { placeholder: lfm2.begin, text: lfm2Begin },
      { placeholder: lfm2.end, text: lfm2End },
    ];
  if (tools.length === 0) return { chat };
  // With most templates' own syntax, llama.cpp does not enforce required calls: they may lack required arguments, have unknown
  // ones, come after endless text, or be missing. Our own syntax enforces the tool's schema.
  const areOurCalls = isOurSyntax || (chat.toolChoice === "required" && !template.isLfm2);
  if (!areOurCalls && !template.isLfm2) return { chat };
  const calls = rulesFor(areOurCalls ? callsRules : lfm2Rules, tools, chat.parallelToolCalls);
  return areOurCalls
    ? { chat: heldToCalls(chat, calls, callsBegin), read: readCalls }
    : { chat: heldToCalls(chat, calls, lfm2Begin) };
}

/** If the text is constrained, the reply is either that text or calls; otherwise calls may follow any text. */
function heldToCalls(chat: NativeChat, calls: string, begin: string): NativeChat {
  if (chat.contentRules !== "")
    return { ...chat, contentRules: eitherRules(chat.contentRules, calls), contentHasCalls: true };
  return { ...chat, grammar: wholeGrammarOf(calls), grammarTrigger: chat.toolChoice === "auto" ? begin : "" };
}

/** A conversation without tools, constraints or template variables. */
export function plainChat(messages: readonly Message[], addGenerationPrompt: boolean): NativeChat {
  return {
    messages: messages.map(toNativeMessage),
    addGenerationPrompt,
    continuesLast: false,
    tools: [],
    toolRules: "",
    argumentRules: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    enableThinking: true,
    templateArguments: [],
    contentRules: "",
    contentHasCalls: false,
    grammar: "",
    grammarTrigger: "",
    markup: [],
    specialTokensInContent: false,
  };
}

/** The tools that may be called. A named tool is the only one, so `required` means that it is called. */
function toolsFor({ tools = [], toolChoice, responseFormat }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (tools.length > 0 && responseFormat.type === "grammar") {
    throw invalidRequest(
      "responseFormat",
      "a grammar constrains the whole reply, so no tools can be called; use toolChoice none, or leave one out.",
    );
  }
  if (tools.length === 0 && toolChoice !== "auto")
    throw invalidRequest("toolChoice", "there are no tools to call.");
  if (typeof toolChoice === "string") return tools;
  const tool = tools.find(({ name }) => name === toolChoice.name);
  if (tool === undefined)
    throw invalidRequest("toolChoice", `there is no tool ${JSON.stringify(toolChoice.name)}.`);
  return [tool];
}

/** Some templates need the tool's name in a result; it is taken from the call. */
function withNames(messages: readonly Message[]): Message[] {
  const names = new Map(
    messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id, name }) => [id, name] as const)),
  );
  return messages.map((message) =>
    message.role === "tool"
      ? { ...message, name: message.name ?? names.get(message.toolCallId ?? "") }
      : message,
  );
}

function toNativeMessage(message: Message): NativeMessage {
  const { content } = message;
  const isText = typeof content === "string" || content.every(({ type }) => type === "text");
  return {
    role: message.role,
    content: isText ? textOf(message) : "",
    parts: isText ? [] : content.map(toNativePart),
    reasoning: message.reasoning ?? "",
    toolCalls: message.toolCalls ?? [],
    toolCallId: message.toolCallId ?? "",
    name: message.role === "tool" ? (message.name ?? "") : "",
  };
}

function toNativePart(part: ContentPart): NativeMessage["parts"][number] {
  switch (part.type) {
    case "text":
      return { text: part.text, image: null, audio: null };
    case "image":
      return { text: "", image: part.image, audio: null };
    case "audio":
      return { text: "", image: null, audio: { data: part.audio } };
  }
}

function toNativeTool(
  { name, description, parameters }: Tool,
  writesNullTypes: boolean,
  argumentsSchema = "",
): NativeChat["tools"][number] {
  ofTools(() => ofTool(name, () => refuseLostReferences(parameters)));
  const told = writesNullTypes ? parameters : withoutNullTypes(parameters);
  return { name, description, parameters: JSON.stringify(told), argumentsSchema };
}

function rulesFor(write: typeof callsRules, tools: readonly Tool[], isParallel: boolean): string {
  const key = `${write.name}${isParallel}${JSON.stringify(tools)}`;
  return ofTools(() => keptRules(key, () => write(tools, isParallel)));
}

function ofTools<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest("tools", `${error.message}.`, error);
    throw error;
  }
}
