// Stored conversations: lists of items that requests continue and extend.
import { messagesMax, type Conversation, type StoredItem } from "@ingle/protocol";
import type { RecordStore } from "../../../stored/record-store.ts";
import { WireError } from "../../../wire-error.ts";

interface ConversationRecord {
  conversation: Conversation;
  items: StoredItem[];
}

export class Conversations {
  readonly #store: RecordStore;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  /** Throws `not_found`. */
  find(id: string, owner: string): ConversationRecord & { bytes: number } {
    const text = this.#store.get(id, owner);
    if (text === undefined) throw noSuchConversation(id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store has what `put` wrote
    return { ...(JSON.parse(text) as ConversationRecord), bytes: text.length };
  }

  /** Adds or replaces a conversation. Throws `invalid_request` for too many items, and `payload_too_large`. */
  put({ conversation, items }: ConversationRecord, owner: string): void {
    if (items.length > messagesMax)
      throw new WireError("invalid_request", `A conversation has at most ${messagesMax} items.`, {
        param: "items",
      });
    const text = JSON.stringify({ conversation, items });
    if (!this.#store.put({ id: conversation.id, owner, text }))
      throw new WireError("payload_too_large", "The conversation is larger than the server's whole store.");
  }

  /** Throws `not_found`. */
  delete(id: string, owner: string): void {
    if (!this.#store.delete(id, owner)) throw noSuchConversation(id);
  }

  /** Adds items at the end, and returns the conversation. Throws what `find` and `put` throw. */
  add(id: string, owner: string, added: readonly StoredItem[]): Conversation {
    const { conversation, items } = this.find(id, owner);
    this.put({ conversation, items: [...items, ...added] }, owner);
    return conversation;
  }
}

function noSuchConversation(id: string): WireError {
  const why = "it was never created, was deleted, or made room for newer records";
  return new WireError("not_found", `No conversation has the id ${JSON.stringify(id)}: ${why}.`);
}
