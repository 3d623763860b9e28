// Converts a checked chat request for the native engine: messages and tools in the form that the model's chat template supports,
// and the grammar that constrains the reply.
import { randomUUID } from "node:crypto";

import { withoutRefusedTurns } from "./alternating-turns.ts";
import { invalidRequest } from "../base/errors.ts";
import type { ChatPrompt } from "./prompt.ts";
import { withoutLaterSystem } from "./later-system.ts";
import { plainChat, type Message } from "./messages.ts";
import type { NativeChat, NativeModelInfo, NativeReply } from "../native/addon.ts";
import { contentRules } from "./response-format.ts";
import { cachedRules, eitherRules, SchemaError, completeGrammar } from "./structured/rules.ts";
import { refuseLostReferences, withoutNullTypes } from "./structured/tool-parameters.ts";
import {
  callsBegin,
  callsRules,
  lfm2Begin,
  lfm2End,
  lfm2Rules,
  withToolName,
  readCalls,
  withCallsSpelled,
  withToolList,
} from "./tool-syntax.ts";
import { toolRules, unenforcedRules } from "./tool-rules.ts";
import type { Tool } from "./tools.ts";

export interface ChatPreparation {
  chat: NativeChat;
  /** The chat whose prompt is used instead, where that leaves out tools that the reply may call. */
  promptChat?: NativeChat | undefined;
  /** Parses replies if the chat template does not support tools and so has no native parser. */
  read?: ((text: string, isPartial: boolean) => Promise<NativeReply | null>) | undefined;
}

/**
 * What a model's chat template supports, whether the model reasons if a request does not say (default true), and whether special tokens
 * spelled in messages are read as such (default false).
 */
export type ModelTemplate = Omit<NativeModelInfo["chatTemplate"], "source"> & {
  thinks?: boolean;
  specialTokensInContent?: boolean;
};

/** Letters and digits, which no template escapes or trims, and which no message can contain. */
function newPlaceholder(): string {
  return `markup${randomUUID().replaceAll("-", "")}`;
}

/** Throws `invalid_request`. */
export function prepareForTemplate(request: ChatPrompt, template: ModelTemplate): ChatPreparation {
  const tools = toolsFor(request);
  const listed = tools.filter(({ isDeferred = false }) => !isDeferred);
  const prepared = withTools(request, template, { tools, listed });
  const { chat } = prepared;
  if (listed.length === tools.length || chat.tools.length === 0) return prepared;
  const toolChoice = listed.length === 0 ? "auto" : chat.toolChoice;
  const names = new Set(listed.map(({ name }) => name));
  const inPrompt = chat.tools.filter(({ name }) => names.has(name));
  return { ...prepared, promptChat: { ...chat, tools: inPrompt, toolChoice } };
}

/** `tools` may be called; the prompt lists only those of `listed` if it is in our syntax. */
function withTools(
  request: ChatPrompt,
  template: ModelTemplate,
  { tools, listed }: { tools: readonly Tool[]; listed: readonly Tool[] },
): ChatPreparation {
  const given = template.writesLaterSystem ? request.messages : withoutLaterSystem(request.messages);
  const named = withNames(given);
  // A reply that must call a tool has no text to constrain.
  const mustCall = tools.length > 0 && request.toolChoice !== "auto";
  const form = mustCall ? "" : contentRules(request.responseFormat);
  const knowsTools = template.writesTools && (form === "" || template.holdsFormOrCalls);
  const mayEnforce = tools.length > 0 && knowsTools && !template.isLfm2 && !mustCall;
  const syntaxRules = mayEnforce
    ? toolRules(tools, template.arguments)
    : unenforcedRules(tools, !mustCall || template.isLfm2);
  // What a template's own syntax cannot hold to its schema, ours can.
  const needsOurSyntax = mayEnforce && !syntaxRules.isEnforced;
  const isOurSyntax = tools.length > 0 && (!knowsTools || needsOurSyntax) && !template.isLfm2;
  const writesCalls = template.writesToolCalls && (!isOurSyntax || !template.writesTools);
  const lfm2 =
    template.isLfm2 && !writesCalls ? { begin: newPlaceholder(), end: newPlaceholder() } : undefined;
  const spelled = writesCalls ? named : withCallsSpelled(named, lfm2);
  const messages = withoutRefusedTurns(spelled, template);
  const chat: NativeChat = {
    ...plainChat(isOurSyntax ? withToolList(messages, listed) : messages, !request.continueFinalMessage),
    specialTokensInContent: template.specialTokensInContent ?? false,
    continuesLast: request.continueFinalMessage,
    tools: isOurSyntax
      ? []
      : tools.map((tool, at) => toNativeTool(tool, template.writesNullTypes, syntaxRules.schemas[at])),
    toolRules: isOurSyntax ? "" : syntaxRules.toolRules,
    argumentRules: isOurSyntax ? [] : syntaxRules.argumentRules,
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
  const calls = rulesFor(areOurCalls ? "ours" : "lfm2", tools, chat.parallelToolCalls);
  return areOurCalls
    ? { chat: constrainToCalls(chat, calls, callsBegin), read: readCalls }
    : { chat: constrainToCalls(chat, calls, lfm2Begin) };
}

/** If the text is constrained, the reply is either that text or calls; otherwise calls may follow any text. */
function constrainToCalls(chat: NativeChat, calls: string, begin: string): NativeChat {
  if (chat.contentRules !== "")
    return { ...chat, contentRules: eitherRules(chat.contentRules, calls), contentHasCalls: true };
  return {
    ...chat,
    grammar: completeGrammar(calls),
    grammarTrigger: chat.toolChoice === "auto" ? begin : "",
  };
}

/** The tools that may be called. A named tool is the only one, so `required` means that it is called. */
function toolsFor({ tools = [], toolChoice, responseFormat }: ChatPrompt): readonly Tool[] {
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

function toNativeTool(
  { name, description, parameters }: Tool,
  writesNullTypes: boolean,
  argumentsSchema = "",
): NativeChat["tools"][number] {
  ofTools(() => withToolName(name, () => refuseLostReferences(parameters)));
  const written = writesNullTypes ? parameters : withoutNullTypes(parameters);
  return { name, description, parameters: JSON.stringify(written), argumentsSchema };
}

/** The rules of calls by their syntax. */
const callRules = { ours: callsRules, lfm2: lfm2Rules };

function rulesFor(syntax: keyof typeof callRules, tools: readonly Tool[], isParallel: boolean): string {
  const key = `${syntax}${isParallel}${JSON.stringify(tools)}`;
  return ofTools(() => cachedRules(key, () => callRules[syntax](tools, isParallel)));
}

function ofTools<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest("tools", `${error.message}.`, error);
    throw error;
  }
}
