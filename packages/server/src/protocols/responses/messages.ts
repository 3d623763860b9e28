// The items of a checked request to /v1/responses as the engine's messages. Used by to-generation.ts.
// What one turn of the assistant thought, said and called are separate items here and one message there.
import type { Message } from "@ingle/engine";
import type { ResponsesContentPart, ResponsesInputItem, ResponsesRequest } from "@ingle/protocol";
import { joinContents, toContent, type UnreadContent, type UnreadMessage } from "../content-parts.ts";

type Item<Type> = Extract<ResponsesInputItem, { type: Type }>;
type Call = NonNullable<Message["toolCalls"]>[number];

/** How far a turn of the assistant has come: what it thinks comes before what it says, and that before its calls. */
type Stage = "thought" | "said" | "called";
interface Turn {
  stage: Stage;
  message: { role: "assistant"; content: UnreadContent; reasoning?: string; toolCalls?: Call[] };
}

export function toMessages({
  instructions = "",
  input,
}: Pick<ResponsesRequest, "instructions" | "input">): UnreadMessage[] {
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : messagesOf(input);
  if (instructions === "") return messages;
  const [first, ...rest] = messages;
  // Most templates know one system message only.
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [{ role: "system", content: joinContents(`${instructions}\n`, first.content) }, ...rest];
}

function messagesOf(items: readonly ResponsesInputItem[]): UnreadMessage[] {
  const messages: UnreadMessage[] = [];
  let turn: Turn | undefined;
  /** The assistant's turn that `stage` belongs to: the one before it, unless that has come as far. */
  const turnFor = (stage: Stage): Turn["message"] => {
    if (turn === undefined || !mayFollow[turn.stage].includes(stage)) {
      turn = { stage, message: { role: "assistant", content: "" } };
      messages.push(turn.message);
    }
    turn.stage = stage;
    return turn.message;
  };
  for (const [index, item] of items.entries()) {
    const param = `input[${index}]`;
    if (item.type === "reasoning") turnFor("thought").reasoning = reasoningOf(item);
    else if (item.type === "function_call") (turnFor("called").toolCalls ??= []).push(toCall(item));
    else if (item.type === "function_call_output") {
      turn = undefined;
      const content = saidIn(item.output, `${param}.output`);
      messages.push({ role: "tool", content, toolCallId: item.call_id });
    } else if (item.role === "assistant") turnFor("said").content = saidIn(item.content, `${param}.content`);
    else {
      turn = undefined;
      // `developer` is the newer name of `system`; the templates of local models know the older one.
      const role = item.role === "developer" ? "system" : item.role;
      messages.push({ role, content: saidIn(item.content, `${param}.content`) });
    }
  }
  return messages;
}

const mayFollow: Readonly<Record<Stage, readonly Stage[]>> = {
  thought: ["said", "called"],
  said: ["called"],
  called: ["called"],
};

function toCall({ call_id: id, name, arguments: text }: Item<"function_call">): Call {
  return { id, name, arguments: text };
}

function reasoningOf({ content = [], summary = [] }: Item<"reasoning">): string {
  return (content.length > 0 ? content : summary).map(({ text }) => text).join("\n");
}

function saidIn(content: string | readonly ResponsesContentPart[], param: string): UnreadContent {
  return toContent(content, param, (part, place) => {
    if (part.type === "input_image")
      return { type: "image", url: part.image_url, place, param: `${place}.image_url` };
    return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
  });
}
