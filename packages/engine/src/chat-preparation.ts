// A checked chat request as the native engine prepares it: messages and tools in the form that the model's template
// knows, and the grammar that its reply is held to. Used by Model.
import { EngineError } from "./errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import { textOf, type ContentPart, type Message } from "./messages.ts";
import type { NativeChat, NativeMessage, NativeModelInfo, NativeReply } from "./native.ts";
import { contentRules } from "./response-format.ts";
import { keptRules } from "./structured/kept-rules.ts";
import { eitherRules, SchemaError, wholeGrammarOf } from "./structured/rules.ts";
import { refuseLostReferences, safeParameters } from "./structured/tool-parameters.ts";
import {
  callsBegin,
  callsRules,
  lfm2Begin,
  lfm2Rules,
  ofTool,
  readCalls,
  withCallsSpelled,
  withToolsTold,
} from "./tool-syntax.ts";
import type { Tool } from "./tools.ts";

export interface ChatPreparation {
  chat: NativeChat;
  /** Reads replies where no native parser can: the template knows no tools. */
  read?: ((text: string, isPartial: boolean) => Promise<NativeReply | null>) | undefined;
}

type ChatRequest = Extract<CheckedGenerationRequest, { messages: unknown }>;

/** Throws `invalid_request`. */
export function prepareForTemplate(
  request: ChatRequest,
  template: NativeModelInfo["chatTemplate"],
): ChatPreparation {
  const tools = toolsFor(request);
  const named = withNames(request.messages);
  // A reply that must call has no text that could have a form.
  const mustCall = tools.length > 0 && request.toolChoice !== "auto";
  const form = mustCall ? "" : contentRules(request.responseFormat);
  const knowsTools = template.writesTools && (form === "" || template.holdsFormOrCalls);
  const isOurSyntax = tools.length > 0 && !knowsTools && !template.isLfm2;
  const writesCalls = template.writesToolCalls && (!isOurSyntax || !template.writesTools);
  const messages = writesCalls ? named : withCallsSpelled(named, template.isLfm2);
  const chat: NativeChat = {
    ...plainChat(isOurSyntax ? withToolsTold(messages, tools) : messages, !request.continueFinalMessage),
    continuesLast: request.continueFinalMessage,
    tools: isOurSyntax ? [] : tools.map(toNativeTool),
    toolChoice: typeof request.toolChoice === "string" ? request.toolChoice : "required",
    // A tool that is named is called once: nothing else would end the calls.
    parallelToolCalls: request.parallelToolCalls && typeof request.toolChoice === "string",
    enableThinking: request.thinking,
    templateArguments: Object.entries(request.templateArguments).map(([name, value]) => ({
      name,
      value: JSON.stringify(value),
    })),
    contentRules: form,
    contentHasCalls: false,
    grammar: request.responseFormat.type === "grammar" ? request.responseFormat.grammar : "",
  };
  if (tools.length === 0) return { chat };
  // In most templates' own syntax, llama.cpp lets calls that must be made lack what their tool requires, have what it does
  // not know, be preceded by endless text, or be no calls at all. Ours are always those of the tool.
  const areOurCalls = isOurSyntax || (chat.toolChoice === "required" && !template.isLfm2);
  if (!areOurCalls && !template.isLfm2) return { chat };
  const calls = rulesFor(areOurCalls ? callsRules : lfm2Rules, tools, chat.parallelToolCalls);
  return areOurCalls
    ? { chat: heldToCalls(chat, calls, callsBegin), read: readCalls }
    : { chat: heldToCalls(chat, calls, lfm2Begin) };
}

/** Where the text has a form, the reply is that or calls from its beginning on; else calls may come anywhere in it. */
function heldToCalls(chat: NativeChat, calls: string, begin: string): NativeChat {
  if (chat.contentRules !== "")
    return { ...chat, contentRules: eitherRules(chat.contentRules, calls), contentHasCalls: true };
  return { ...chat, grammar: wholeGrammarOf(calls), grammarTrigger: chat.toolChoice === "auto" ? begin : "" };
}

/** A conversation without anything special about its reply. */
export function plainChat(messages: readonly Message[], addGenerationPrompt: boolean): NativeChat {
  return {
    messages: messages.map(toNativeMessage),
    addGenerationPrompt,
    continuesLast: false,
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    enableThinking: true,
    templateArguments: [],
    contentRules: "",
    contentHasCalls: false,
    grammar: "",
    grammarTrigger: "",
  };
}

/** The tools that may be called. A named one is the only one, so that being required is being called. */
function toolsFor({ tools = [], toolChoice, responseFormat }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (tools.length > 0 && responseFormat.type === "grammar") {
    throw refused(
      "responseFormat",
      "a grammar is for the whole reply, so no tools can be called; use toolChoice none, or leave one out",
    );
  }
  if (tools.length === 0 && toolChoice !== "auto") throw refused("toolChoice", "there are no tools to call");
  if (typeof toolChoice === "string") return tools;
  const tool = tools.find(({ name }) => name === toolChoice.name);
  if (tool === undefined) throw refused("toolChoice", `there is no tool ${JSON.stringify(toolChoice.name)}`);
  return [tool];
}

/** Results carry their tool's name, which some templates want: it is the call's. */
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
  return part.type === "text" ? { text: part.text, image: null } : { text: "", image: part.image };
}

function toNativeTool({ name, description, parameters }: Tool): NativeChat["tools"][number] {
  ofTools(() => ofTool(name, () => refuseLostReferences(parameters)));
  return { name, description, parameters: JSON.stringify(safeParameters(parameters)) };
}

function rulesFor(write: typeof callsRules, tools: readonly Tool[], isParallel: boolean): string {
  const key = `${write.name}${isParallel}${JSON.stringify(tools)}`;
  return ofTools(() => keptRules(key, () => write(tools, isParallel)));
}

function ofTools<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaError) throw refused("tools", error.message, error);
    throw error;
  }
}

function refused(param: string, reason: string, cause?: unknown): EngineError {
  return new EngineError("invalid_request", `${param}: ${reason}.`, { cause, details: { param } });
}
