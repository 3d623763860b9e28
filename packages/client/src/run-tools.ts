// Tools that are functions of the program. `runTools` checks their arguments by schema and calls them for the model until it
// replies without a call.
import type { ChatCompletionBody, ChatCompletionChunk } from "@ingle/protocol";

import { parseJson } from "./response-body.ts";
import type { ReplyMessage, StreamedCompletion } from "./chat-stream.ts";
import type { ChatCompletions, ChatMessage } from "./chat.ts";
import { IngleError, ToolRoundsError } from "./errors.ts";
import { check, toJsonSchema } from "./schema.ts";
import type { ValueSchema } from "./schema.ts";
import type { CallOptions } from "./transport.ts";

/** Enough for usual tasks; stops a model that repeats itself before that costs much. */
const defaultRoundsMax = 10;

type ToolCall = NonNullable<ReplyMessage["tool_calls"]>[number];
type ToolDefinition = NonNullable<ChatCompletionBody["tools"]>[number];

/** The second argument of a tool's function. */
export interface ToolContext {
  /** The signal of `runTools`: a slow tool should stop with it. */
  signal: AbortSignal | undefined;
  /** The call's id. */
  callId: string;
}

export interface RunnableTool {
  /** The entry for a request's `tools`. */
  readonly definition: ToolDefinition;
  /** Runs the function with the JSON arguments of a call and resolves with the text for the model. */
  readonly run: (argumentsText: string, context: ToolContext) => Promise<string>;
}

export interface ToolOptions<Arguments> {
  /** 1 to 128 letters, digits, dots, dashes or underscores. */
  name: string;
  /** Tells the model what the function does and when to call it. */
  description?: string | undefined;
  /** The schema of its arguments, an object. */
  parameters: ValueSchema<Arguments>;
  /** The function. The model gets its result (a string unchanged, anything else as JSON) or the message of its error. */
  run: (args: Arguments, context: ToolContext) => unknown;
}

/** Makes a tool from a function and the schema of its arguments. */
export function tool<Arguments>({
  name,
  description,
  parameters,
  run,
}: ToolOptions<Arguments>): RunnableTool {
  return {
    definition: { type: "function", function: { name, description, parameters: toJsonSchema(parameters) } },
    run: async (argumentsText, context) => {
      const checked = await check(parameters, parseJson(argumentsText));
      if (!("value" in checked)) throw new IngleError(`the arguments are wrong: ${checked.sentence}`);
      const result = await run(checked.value, context);
      return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
    },
  };
}

export interface RunToolsOptions extends CallOptions {
  /** Maximum number of requests to the model. Default: 10. */
  roundsMax?: number | undefined;
  /** Called with every chunk of every reply. */
  onChunk?: ((chunk: ChatCompletionChunk) => void) | undefined;
}

export interface ToolRun {
  /** The last reply, which calls no tool or was cut by its token limit. */
  completion: StreamedCompletion;
  /** Its text. */
  text: string;
  /** The complete conversation: the request's messages, the replies, and the results of the tools. */
  messages: ChatMessage[];
}

/**
 * Sends the request, runs the tools that the model calls, those of one reply in parallel, and sends their results, until a reply
 * calls no tool. The model gets a tool's error as `Error: …`, so that it can try again. A `tool_choice` that requires a call
 * applies to the first reply only, because otherwise the calls would never end.
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
    // A call that is cut off by the token limit is not run.
    if (calls.length === 0 || finish_reason === "length")
      return { completion, text: message.content ?? "", messages };
    const results = calls.map(async (call) => runCall(call, tools, { signal, callId: call.id }));
    messages.push(...(await Promise.all(results)));
  }
  throw new ToolRoundsError(roundsMax, messages);
}

async function runCall(
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
  if (called === undefined) return `Error: unknown tool "${name}"`;
  try {
    return await called.run(argumentsText, context);
  } catch (error) {
    context.signal?.throwIfAborted();
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}
