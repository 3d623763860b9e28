// Converts the input items of a checked request to /v1/responses to the engine's messages. The reasoning, text and calls of one
// assistant turn are separate items here, but one message there.
import type { Message } from "@ingle/engine";
import {
  inputItems,
  isUnseenItem,
  type ResponsesContentPart,
  type ResponsesInputItem,
  type ResponsesRequest,
} from "@ingle/protocol";
import { customArgument, modelName } from "./tools.ts";
import {
  joinContents,
  toContent,
  type UnreadContent,
  type UnreadMessage,
} from "../../../content/content-parts.ts";

type Item<Type> = Extract<ResponsesInputItem, { type: Type }>;
type Call = NonNullable<Message["toolCalls"]>[number];

/** The stages of an assistant turn: its reasoning comes before its text, and its text before its calls. */
type Stage = "reasoning" | "text" | "calls";
interface Turn {
  stage: Stage;
  message: { role: "assistant"; content: UnreadContent; reasoning?: string; toolCalls?: Call[] };
}

/** `earlier`: the stored items that come before the input. */
export function toMessages({
  instructions = "",
  input,
  earlier = [],
}: Pick<ResponsesRequest, "instructions" | "input"> & {
  earlier?: readonly ResponsesInputItem[];
}): UnreadMessage[] {
  const messages = itemsToMessages([...earlier, ...inputItems(input)], earlier.length);
  if (instructions === "") return messages;
  const [first, ...rest] = messages;
  // Most chat templates accept only one system message.
  if (first?.role !== "system") return [{ role: "system", content: instructions }, ...messages];
  return [{ role: "system", content: joinContents(`${instructions}\n`, first.content) }, ...rest];
}

/** `storedCount`: how many of the first items are stored ones. */
function itemsToMessages(items: readonly ResponsesInputItem[], storedCount: number): UnreadMessage[] {
  const messages: UnreadMessage[] = [];
  let turn: Turn | undefined;
  /** The message that an item of this stage belongs to: that of the open turn, unless the turn is past this stage. */
  const messageFor = (stage: Stage): Turn["message"] => {
    if (turn === undefined || !mayFollow[turn.stage].includes(stage)) {
      turn = { stage, message: { role: "assistant", content: "" } };
      messages.push(turn.message);
    }
    turn.stage = stage;
    return turn.message;
  };
  for (const [index, item] of items.entries()) {
    const param = index < storedCount ? `stored item ${index}` : `input[${index - storedCount}]`;
    if (isUnseenItem(item)) continue;
    if (item.type === "reasoning") messageFor("reasoning").reasoning = reasoningText(item);
    else if (item.type === "function_call" || item.type === "custom_tool_call")
      (messageFor("calls").toolCalls ??= []).push(toCall(item));
    else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      turn = undefined;
      const content = toItemContent(item.output, `${param}.output`);
      messages.push({ role: "tool", content, toolCallId: item.call_id });
    } else if (item.role === "assistant")
      messageFor("text").content = toItemContent(item.content, `${param}.content`);
    else {
      turn = undefined;
      // `developer` is the newer name of `system`; chat templates only know the older one.
      const role = item.role === "developer" ? "system" : item.role;
      messages.push({ role, content: toItemContent(item.content, `${param}.content`) });
    }
  }
  return messages;
}

const mayFollow: Readonly<Record<Stage, readonly Stage[]>> = {
  reasoning: ["text", "calls"],
  text: ["calls"],
  calls: ["calls"],
};

function toCall(item: Item<"function_call"> | Item<"custom_tool_call">): Call {
  const isFunction = item.type === "function_call";
  const text = isFunction ? item.arguments : JSON.stringify({ [customArgument]: item.input });
  return { id: item.call_id, name: modelName(item), arguments: text };
}

function reasoningText({ content = [], summary = [] }: Item<"reasoning">): string {
  return (content.length > 0 ? content : summary).map(({ text }) => text).join("\n");
}

function toItemContent(content: string | readonly ResponsesContentPart[], param: string): UnreadContent {
  return toContent(content, param, (part, place) => {
    if (part.type === "input_image")
      return { type: "image", url: part.image_url, place, param: `${place}.image_url` };
    if (part.type === "input_audio")
      return { type: "audio", data: part.input_audio.data, place, param: `${place}.input_audio.data` };
    if (part.type === "input_file")
      return { type: "document", data: part.file_data, name: part.filename, param: `${place}.file_data` };
    return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
  });
}
