// System messages in the middle of a conversation, which some programs send and many chat templates refuse or leave out.
import { textOf, withText, type Message } from "./messages.ts";

/**
 * Every system message but the first becomes a part of the user's turn at its place, so that the text before it stays a shared
 * prefix; at the start of the conversation, it becomes a part of the first one. No two messages of the user follow each other for
 * that: some templates refuse those, too.
 */
export function withoutLaterSystem(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  /** Whether the last turn has only what a system message said. */
  let isTold = false;
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === "system" && last !== undefined) {
      if (last.role === "system") replaceLast(turns, withText(last, "after", textOf(message), "\n\n"));
      else if (last.role === "user") replaceLast(turns, withText(last, "after", told(message), "\n\n"));
      else {
        turns.push({ role: "user", content: told(message) });
        isTold = true;
      }
    } else {
      if (message.role === "user" && last !== undefined && isTold)
        replaceLast(turns, withText(message, "before", textOf(last), "\n\n"));
      else turns.push(message);
      isTold = false;
    }
  }
  return turns;
}

function replaceLast(turns: Message[], message: Message): void {
  turns[turns.length - 1] = message;
}

/** Marked, so that the model can tell it from what the user says. */
function told(message: Message): string {
  return `<system>\n${textOf(message)}\n</system>`;
}
