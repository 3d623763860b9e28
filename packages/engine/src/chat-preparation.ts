// A checked chat request as the native engine prepares it: messages and tools in the form that the model's template
// knows, and the grammar that its reply is held to. Used by Model.
import { EngineError } from "./errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import { textOf, type ContentPart, type Message } from "./messages.ts";
import type { NativeChat, NativeMessage, NativeModelInfo, NativeReply } from "./native.ts";
import { contentRules } from "./response-format.ts";
import { SchemaError } from "./structured/schema-error.ts";
import { safeParameters } from "./structured/tool-parameters.ts";
import {
  callsBegin,
  callsGrammar,
  lfm2Begin,
  lfm2Grammar,
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
  const messages = template.writesToolCalls ? named : withCallsSpelled(named, template.isLfm2);
  const isOurSyntax = tools.length > 0 && !template.writesTools && !template.isLfm2;
  const chat: NativeChat = {
    ...plainChat(isOurSyntax ? withToolsTold(messages, tools) : messages, !request.continueFinalMessage),
    continuesLast: request.continueFinalMessage,
    tools: isOurSyntax ? [] : tools.map(toNativeTool),
    toolChoice: typeof request.toolChoice === "string" ? request.toolChoice : "required",
    parallelToolCalls: request.parallelToolCalls,
    enableThinking: request.thinking,
    templateArguments: Object.entries(request.templateArguments).map(([name, value]) => ({
      name,
      value: JSON.stringify(value),
    })),
    contentRules: contentRules(request.responseFormat),
    grammar: request.responseFormat.type === "grammar" ? request.responseFormat.grammar : "",
  };
  const begin = isOurSyntax ? callsBegin : lfm2Begin;
  if (tools.length === 0 || (!isOurSyntax && !template.isLfm2)) return { chat };
  const held: NativeChat = {
    ...chat,
    grammar: grammarFor(isOurSyntax ? callsGrammar : lfm2Grammar, tools, request.parallelToolCalls),
    grammarTrigger: chat.toolChoice === "auto" ? begin : "",
  };
  return isOurSyntax ? { chat: held, read: readCalls } : { chat: held };
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
    grammar: "",
    grammarTrigger: "",
  };
}

/** The tools that may be called. A named one is the only one, so that being required is being called. */
function toolsFor({ tools = [], toolChoice, responseFormat }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (tools.length > 0 && responseFormat.type !== "text") {
    throw refused(
      "responseFormat",
      "a form for the text and tools to call exclude each other; use toolChoice none, or leave one out",
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
  return { name, description, parameters: JSON.stringify(safeParameters(parameters)) };
}

function grammarFor(write: typeof callsGrammar, tools: readonly Tool[], isParallel: boolean): string {
  try {
    return write(tools, isParallel);
  } catch (error) {
    if (error instanceof SchemaError) throw refused("tools", error.message, error);
    throw error;
  }
}

function refused(param: string, reason: string, cause?: unknown): EngineError {
  return new EngineError("invalid_request", `${param}: ${reason}.`, { cause, details: { param } });
}
