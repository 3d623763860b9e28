// Tools that a chat session runs when the model calls them.
import type { z } from "zod";
import type { Message, ToolCall } from "./prompt/messages.ts";
import { isObject } from "./prompt/structured/schema-keywords.ts";
import type { Tool } from "./prompt/tools.ts";

/** What a tool's function gets beside its arguments. */
export interface SessionToolContext {
  /** The call's id. */
  callId: string;
  /** Aborted together with the reply: a slow tool should stop then. */
  signal: AbortSignal | undefined;
}

/** A tool and the function behind it. */
export type SessionTool = z.input<typeof Tool> & {
  /**
   * Called with the arguments that the model wrote. They are a JSON object, but not checked against `parameters`. Resolves with the
   * result for the model; the message of an error is given to the model instead, as `Error: …`.
   */
  run: (args: Record<string, unknown>, context: SessionToolContext) => Promise<Message["content"]>;
};

/** Runs the called tool and resolves with the message that has its result. Rejects only if the signal was aborted. */
export async function resultMessage(
  call: ToolCall,
  tools: readonly SessionTool[],
  signal: AbortSignal | undefined,
): Promise<Message> {
  const content = await runTool(call, tools, signal);
  return { role: "tool", toolCallId: call.id, name: call.name, content };
}

async function runTool(
  { id: callId, name, arguments: written }: ToolCall,
  tools: readonly SessionTool[],
  signal: AbortSignal | undefined,
): Promise<Message["content"]> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return `Error: There is no tool ${JSON.stringify(name)}.`;
  try {
    return await tool.run(parseArguments(written), { callId, signal });
  } catch (error) {
    signal?.throwIfAborted();
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function parseArguments(written: string): Record<string, unknown> {
  let args: unknown;
  try {
    args = JSON.parse(written);
  } catch {
    args = undefined;
  }
  if (!isObject(args)) throw new Error("The arguments are not a JSON object.");
  return args;
}
