// Runs the calls that a model asks for, one after another: each is asked for unless it is allowed, and its result is for the model.
import type { McpApproval, McpCallResult, ToolCall as WireCall } from "@ingle/protocol";

import type { ToolCall } from "../conversations/conversation.ts";
import { client } from "../connection/connection.ts";
import { announce } from "../design/toast.tsx";
import type { CallRun, ReplyTools } from "./reply-writer.ts";
import { errorText } from "../strings/error-message.ts";
import { toolsText } from "../strings/tools.ts";
import { isAllowed, offeredTools, refreshToolServers } from "./tool-servers.ts";

/** The record of a call that has not been run. `servers` are those of the chat. */
export function beginCall({ id, function: called }: WireCall, servers: readonly string[]): ToolCall {
  const { name, arguments: written } = called;
  const place = offeredTools(servers).findPlace(name) ?? null;
  return { id, name, arguments: written, place, status: "waiting", content: [] };
}

export function runCalls(model: string): ReplyTools["run"] {
  return async (calls, { ask, onChange, signal }) => {
    let current = [...calls];
    for (const [at, call] of calls.entries()) {
      const change = (changes: Partial<ToolCall>) => {
        current = current.with(at, { ...call, ...changes });
        onChange(current);
      };
      const onRun = () => change({ status: "running" });
      change(await runCall(call, { model, ask: () => ask(call.id), onRun, signal }));
    }
  };
}

interface RunOptions extends Pick<CallRun, "signal"> {
  model: string;
  ask: () => Promise<McpApproval>;
  onRun: () => void;
}

type Outcome = Pick<ToolCall, "status" | "content">;

/** Rejects only with the signal's reason. */
async function runCall(call: ToolCall, { model, ask, onRun, signal }: RunOptions): Promise<Outcome> {
  const args = parseArguments(call.arguments);
  if (call.place === null) return failure(`There is no tool ${JSON.stringify(call.name)}.`);
  if (args === undefined) return failure("The arguments are not a JSON object.");
  const { place } = call;
  const send = async (approval?: McpApproval): Promise<Outcome> => {
    if (approval !== "no") onRun();
    const result = await client.mcp.call({ ...place, arguments: args, model, approval }, { signal });
    if (approval === "always") await refreshToolServers();
    return { status: result.status, content: result.content.map(toResultPart) };
  };
  try {
    if (isAllowed(place)) return await send();
    announce(toolsText.question(place.tool, place.server));
    return await send(await ask());
  } catch (error) {
    signal.throwIfAborted();
    return failure(errorText(error));
  }
}

function failure(sentence: string): Outcome {
  return { status: "failed", content: [{ type: "text", text: `Error: ${sentence}` }] };
}

function parseArguments(written: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined; // The model wrote something else.
  }
}

function toResultPart(part: McpCallResult["content"][number]): ToolCall["content"][number] {
  return part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "image_url", image_url: { url: part.image_url.url } };
}
