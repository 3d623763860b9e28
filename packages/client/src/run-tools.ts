// Tools that are functions of the program: what they take is checked by their schema, and `runTools` calls them for the
// model until it answers. For programs; it stands above the requests of chat.ts and nothing else needs it.
import type { ChatCompletionBody, ChatCompletionChunk } from "@ingle/protocol";

import { parseJson } from "./answer.ts";
import type { ReplyMessage, StreamedCompletion } from "./chat-reply.ts";
import type { ChatCompletions, ChatMessage } from "./chat.ts";
import { IngleError, ToolRoundsError } from "./errors.ts";
import { check, jsonSchemaOf } from "./schema.ts";
import type { ValueSchema } from "./schema.ts";
import type { CallOptions } from "./transport.ts";

/** Enough for what people ask of a few tools; a model that goes round in circles is stopped before it costs much. */
const defaultRoundsMax = 10;

type ToolCall = NonNullable<ReplyMessage["tool_calls"]>[number];
type ToolDefinition = NonNullable<ChatCompletionBody["tools"]>[number];

/** What a tool's function is given beside its arguments. */
export interface ToolContext {
  /** That of `runTools`: a slow tool should end with it. */
  signal: AbortSignal | undefined;
  /** The call's id. */
  callId: string;
}

/** A tool that can be run. */
export interface RunnableTool {
  /** As it stands in a request's `tools`. */
  readonly definition: ToolDefinition;
  /** Runs the function with the arguments of a call, which are JSON, and resolves with the text for the model. */
  readonly run: (argumentsText: string, context: ToolContext) => Promise<string>;
}

/** What a tool is made of. */
export interface ToolOptions<Arguments> {
  /** 1 to 128 letters, digits, dots, dashes or underscores. */
  name: string;
  /** For the model: what the function does and when to call it. */
  description?: string | undefined;
  /** The schema of its arguments, an object. */
  parameters: ValueSchema<Arguments>;
  /** The function. What it gives goes to the model: a string as it is, anything else as JSON. So does the message of what it throws. */
  run: (args: Arguments, context: ToolContext) => unknown;
}

/** Makes a tool out of a function and the schema of its arguments. */
export function tool<Arguments>({
  name,
  description,
  parameters,
  run,
}: ToolOptions<Arguments>): RunnableTool {
  return {
    definition: { type: "function", function: { name, description, parameters: jsonSchemaOf(parameters) } },
    run: async (argumentsText, context) => {
      const checked = await check(parameters, parseJson(argumentsText));
      if (!("value" in checked)) throw new IngleError(`the arguments are wrong: ${checked.sentence}`);
      const result = await run(checked.value, context);
      return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
    },
  };
}

/** How tools are run. */
export interface RunToolsOptions extends CallOptions {
  /** Most requests to the model. Default: 10. */
  roundsMax?: number | undefined;
  /** Sees every chunk of every reply as it comes. */
  onChunk?: ((chunk: ChatCompletionChunk) => void) | undefined;
}

/** How running tools ended. */
export interface ToolRun {
  /** The last reply, which calls nothing, or was cut by its limit of tokens. */
  completion: StreamedCompletion;
  /** The text of it. */
  text: string;
  /** The whole conversation: the request's messages, the replies, and what the tools gave. */
  messages: ChatMessage[];
}

/**
 * Asks the model, runs the tools that it calls, all of one reply at the same time, and asks again with what they gave, until
 * a reply calls none. What goes wrong in a tool is told to the model as `Error: …`, so that it can try otherwise. A
 * `tool_choice` that demands a call is kept for the first reply only, because it would demand one for ever.
 * Rejects with a `ToolRoundsError` after `roundsMax` replies that all call tools.
 */
export async function runTools(
  completions: Pick<ChatCompletions, "stream">,
  body: ChatCompletionBody & { n?: 1 | undefined; tools?: undefined },
  tools: readonly RunnableTool[],
  { signal, roundsMax = defaultRoundsMax, onChunk }: RunToolsOptions = {},
): Promise<ToolRun> {
  const messages: ChatMessage[] = [...body.messages];
  const definitions = tools.map(({ definition }) => definition);
  for (let round = 0; round < roundsMax; round += 1) {
    const tool_choice = round === 0 ? body.tool_choice : "auto";
    const request = { ...body, stream: true, messages, tools: definitions, tool_choice } as const;
    const stream = await completions.stream(request, { signal });
    for await (const chunk of stream) onChunk?.(chunk);
    const completion = await stream.finalCompletion();
    const [{ message, finish_reason }] = completion.choices;
    messages.push(message);
    const calls = message.tool_calls ?? [];
    // A call that is cut short by the limit of tokens was never made.
    if (calls.length === 0 || finish_reason === "length")
      return { completion, text: message.content ?? "", messages };
    const results = calls.map(async (call) => answerCall(call, tools, { signal, callId: call.id }));
    messages.push(...(await Promise.all(results)));
  }
  throw new ToolRoundsError(roundsMax, messages);
}

async function answerCall(
  call: ToolCall,
  tools: readonly RunnableTool[],
  context: ToolContext,
): Promise<ChatMessage> {
  const { name, arguments: argumentsText } = call.function;
  const called = tools.find(({ definition }) => definition.function.name === name);
  const content = await runCalled(called, name, argumentsText, context);
  return { role: "tool", tool_call_id: call.id, content };
}

async function runCalled(
  called: RunnableTool | undefined,
  name: string,
  argumentsText: string,
  context: ToolContext,
): Promise<string> {
  if (called === undefined) return `Error: there is no tool "${name}"`;
  try {
    return await called.run(argumentsText, context);
  } catch (error) {
    context.signal?.throwIfAborted();
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}
