// System messages in the middle of a conversation, which some programs send and many chat templates refuse or leave out.
import { messageText, withText, type Message } from "./messages.ts";

/**
 * Every system message but the first becomes a part of the user's turn at its place, so that the text before it stays a shared
 * prefix; at the start of the conversation, it becomes a part of the first one. No two messages of the user follow each other for
 * that: some templates refuse those, too.
 */
export function withoutLaterSystem(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  /** Whether the last turn has only what a system message said. */
  let isSystemText = false;
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === "system" && last !== undefined) {
      if (last.role === "system") replaceLast(turns, withText(last, "after", messageText(message), "\n\n"));
      else if (last.role === "user") replaceLast(turns, withText(last, "after", asUserText(message), "\n\n"));
      else {
        turns.push({ role: "user", content: asUserText(message) });
        isSystemText = true;
      }
    } else {
      if (message.role === "user" && last !== undefined && isSystemText)
        replaceLast(turns, withText(message, "before", messageText(last), "\n\n"));
      else turns.push(message);
      isSystemText = false;
    }
  }
  return turns;
}

function replaceLast(turns: Message[], message: Message): void {
  turns[turns.length - 1] = message;
}

/** Marked, so that the model can tell it from what the user says. */
function asUserText(message: Message): string {
  return `<system>\n${messageText(message)}\n</system>`;
}
