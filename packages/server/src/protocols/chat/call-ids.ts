// Which call a result answers, where a message does not say it by an id: templates want to know. Used by to-messages.ts.
import type { ToolCall } from "@ingle/engine";

export interface CallIds {
  /** An id for a call that has none. */
  next: () => string;
  /** The assistant has made these calls. */
  called: (calls: readonly ToolCall[]) => void;
  /** The id of the call that a result answers: the one given, else that of the first open call, of this name if there is one. */
  answered: (given: string, name: string | undefined) => string | undefined;
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
    answered: (given, name) => {
      if (given !== "") return close(given);
      return close((open.find((call) => call.name === name) ?? open[0])?.id);
    },
  };
}
