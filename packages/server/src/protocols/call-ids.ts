// Assigns ids to tool calls in protocols where a call or its result may have none: chat templates need them.
import type { ToolCall } from "@ingle/engine";

/** Finds the call that a result without an id belongs to. */
export interface CallIds {
  /** An id for a call that has none. */
  next: () => string;
  /** Records the calls of an assistant's message. */
  called: (calls: readonly ToolCall[]) => void;
  /** The id of the call that a result belongs to: the given one, else that of the first open call, preferably of this name. */
  resultOf: (given: string, name: string | undefined) => string | undefined;
}

export function callIds(): CallIds {
  let count = 0;
  let open: readonly ToolCall[] = [];
  const close = (id: string | undefined): string | undefined => {
    open = open.filter((call) => call.id !== id);
    return id;
  };
  return {
    next: () => `call${String((count += 1)).padStart(5, "0")}`,
    called: (calls) => {
      open = calls;
    },
    resultOf: (given, name) => {
      if (given !== "") return close(given);
      return close((open.find((call) => call.name === name) ?? open[0])?.id);
    },
  };
}
