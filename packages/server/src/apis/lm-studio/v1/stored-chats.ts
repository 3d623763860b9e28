// The chats of LM Studio's API v1 that requests can continue, in memory. Each response is a node of a tree that holds its own
// messages; its chat consists of the messages of the nodes from the root, so the common part of branching chats is kept once.
import type { UnreadMessage } from "../../../content/content-parts.ts";

/** Maximum number of responses that a request can follow; a new one replaces the least recently used. */
const storedResponsesMax = 10_000;
/** Maximum total length of all chats, in UTF-16 units. Images, if there are any, take most of it. */
const storedUnitsMax = 128 * 1024 * 1024;

/** The overhead of a message besides its texts. */
const messageUnits = 256;

/** A chat up to and including a response. */
export interface StoredChat {
  system: string | undefined;
  /** Without the system message. */
  messages: readonly UnreadMessage[];
}

interface Node {
  readonly system: string | undefined;
  readonly own: readonly UnreadMessage[];
  readonly units: number;
  readonly parent: Node | undefined;
  /** References from the list and from child nodes. The node is deleted with the last one. */
  holders: number;
}

export class StoredChats {
  readonly #limits: { responses: number; units: number };
  /** By the response's id, the least recently used first. */
  readonly #nodes = new Map<string, Node>();
  #units = 0;

  constructor(limits = { responses: storedResponsesMax, units: storedUnitsMax }) {
    this.#limits = limits;
  }

  /** Number of UTF-16 units kept. */
  get units(): number {
    return this.#units;
  }

  get(id: string): StoredChat | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined) return undefined;
    this.#nodes.delete(id);
    this.#nodes.set(id, node);
    const turns: (readonly UnreadMessage[])[] = [];
    for (let each: Node | undefined = node; each !== undefined; each = each.parent) turns.push(each.own);
    return { system: node.system, messages: turns.toReversed().flat() };
  }

  /** Keeps a chat that ends with the messages `added`. They follow `before`, the chat up to the response `previousId`. */
  add(
    id: string,
    added: StoredChat,
    { previousId, before }: { previousId: string | undefined; before: readonly UnreadMessage[] },
  ): void {
    const parent = previousId === undefined ? undefined : this.#nodes.get(previousId);
    // The previous response may have been deleted while this one was generated.
    const own = parent === undefined ? [...before, ...added.messages] : added.messages;
    const units = own.reduce((sum, message) => sum + countUnits(message), added.system?.length ?? 0);
    if (parent !== undefined) parent.holders += 1;
    this.#nodes.set(id, { system: added.system, own, units, parent, holders: 1 });
    this.#units += units;
    this.#forgetSome(id);
  }

  #forgetSome(newest: string): void {
    const { responses, units } = this.#limits;
    for (const [id, node] of this.#nodes) {
      if ((this.#nodes.size <= responses && this.#units <= units) || id === newest) return;
      this.#nodes.delete(id);
      this.#release(node);
    }
  }

  #release(node: Node): void {
    for (let each: Node | undefined = node; each !== undefined; each = each.parent) {
      each.holders -= 1;
      if (each.holders > 0) return;
      this.#units -= each.units;
    }
  }
}

function countUnits({ content, reasoning = "" }: UnreadMessage): number {
  const texts =
    typeof content === "string"
      ? [content]
      : content.map((part) => {
          if (part.type === "text") return part.text;
          return part.type === "image" ? part.url : part.data;
        });
  return texts.reduce((sum, text) => sum + text.length, reasoning.length + messageUnits);
}
