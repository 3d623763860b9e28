// Turns that some chat templates refuse to see one after the other, which agents send all the same. Only those become one.
import type { ContentPart, Message } from "./messages.ts";
import type { NativeModelInfo } from "../native/addon.ts";

type RefusedTurns = Pick<
  NativeModelInfo["chatTemplate"],
  "refusesUserAfterUser" | "refusesAssistantAfterAssistant" | "refusesUserAfterResult"
>;

const gap = "\n\n";

/** The conversation in an order that the template takes. What a user says after a tool's result becomes a part of that result. */
export function withoutRefusedTurns(messages: readonly Message[], template: RefusedTurns): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last !== undefined && refuses(template, last, message))
      turns[turns.length - 1] = asOne(last, message);
    else turns.push(message);
  }
  return turns;
}

function refuses(template: RefusedTurns, last: Message, message: Message): boolean {
  if (message.role === "user")
    return (
      (last.role === "user" && template.refusesUserAfterUser) ||
      (last.role === "tool" && template.refusesUserAfterResult)
    );
  // Calls come last in a turn: a text after them is another one.
  const isOpen = last.role === "assistant" && (last.toolCalls ?? []).length === 0;
  return message.role === "assistant" && isOpen && template.refusesAssistantAfterAssistant;
}

function asOne(last: Message, message: Message): Message {
  const both = { ...last, content: joined(last.content, message.content) };
  if (message.role !== "assistant") return both;
  const reasoning = [last.reasoning ?? "", message.reasoning ?? ""].filter((text) => text !== "");
  return { ...both, reasoning: reasoning.join(gap), toolCalls: message.toolCalls };
}

function joined(one: Message["content"], other: Message["content"]): Message["content"] {
  if (typeof one === "string" && typeof other === "string")
    return [one, other].filter((text) => text !== "").join(gap);
  const [before, after] = [toParts(one), toParts(other)];
  const [last, first] = [before.at(-1), after[0]];
  // Templates put nothing between two texts.
  if (last?.type === "text" && first?.type === "text")
    return [...before.slice(0, -1), { type: "text", text: last.text + gap + first.text }, ...after.slice(1)];
  return [...before, ...after];
}

function toParts(content: Message["content"]): ContentPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}
