// What the readers of other programs' exports have in common: a chat as nodes of a tree becomes a chat of Ingle, with its branches.
// Steps between a question and its reply are joined, since a reply is one message here. Pure, except for ids.
import { newId } from "../conversations/chat-storage.ts";
import { toTitle } from "../conversations/conversation-text.ts";
import type { ArchivedChat, Attachment, Message, ReplyMessage } from "../conversations/conversation.ts";
import { emptySettings } from "../conversations/settings-fields.ts";

export interface ImportedFile {
  name: string;
  /** A text, or a `data:` URL of an image. */
  content: { text: string } | { image: string };
}

/** A message of another program. */
export interface ForeignNode {
  id: string;
  /** The node above; null, or an unknown id, for a first one. */
  parentId: string | null;
  /** `none`: nothing that is shown, such as the result of a tool; what is below it moves up. */
  role: "user" | "assistant" | "system" | "none";
  text: string;
  /** Unix milliseconds; null if the export does not say. */
  createdAt: number | null;
  thinking?: string;
  thinkingMs?: number | null;
  model?: string | null;
  /** Replies below the same message with the same number were requested together. */
  round?: number | undefined;
  files?: readonly ImportedFile[];
}

export interface ForeignChat {
  /** Empty: taken from the first message. */
  title: string;
  systemPrompt: string;
  createdAt: number | null;
  updatedAt: number | null;
  /** Each parent's children in their order. */
  nodes: readonly ForeignNode[];
  /** The last visible node; null: the newest branch. */
  currentId: string | null;
}

/** A reply that is being put together from one or more nodes. */
interface Draft {
  text: string;
  thinking: string;
  thinkingMs: number | null;
  node: ForeignNode;
  parentId: string | null;
  /** Set once the reply is among the messages. */
  message: ReplyMessage | null;
}

interface Place {
  node: ForeignNode;
  /** The message above. */
  parentId: string | null;
  draft: Draft | null;
}

/** The chat of Ingle; undefined if it has no message. */
export function toArchivedChat(
  chat: ForeignChat,
  { now, source, leftOut }: { now: number; source: string; leftOut: LeftOutCounter },
): ArchivedChat | undefined {
  const builder = new ChatBuilder(chat, { now, source });
  const reached = builder.walk();
  leftOut.add("others", chat.nodes.length - reached);
  const { messages, images } = builder;
  const [first] = messages;
  if (first === undefined) return undefined;
  const createdAt = chat.createdAt ?? first.createdAt;
  const firstText = messages.find(({ role }) => role === "user")?.text ?? first.text;
  return {
    conversation: {
      id: builder.conversationId,
      title: chat.title === "" ? toTitle(firstText) : chat.title,
      isNamed: chat.title !== "",
      folderId: null,
      createdAt,
      updatedAt: Math.max(createdAt, chat.updatedAt ?? messages.at(-1)?.createdAt ?? createdAt),
      deletedAt: null,
      chosen: builder.chosen(),
      models: [],
      answers: 1,
      settings: { ...emptySettings, systemPrompt: builder.systemPrompt },
    },
    messages,
    images,
  };
}

class ChatBuilder {
  readonly conversationId = newId();
  readonly messages: Message[] = [];
  readonly images: Record<string, string> = {};
  systemPrompt: string;
  readonly #chat: ForeignChat;
  readonly #now: number;
  /** The name of replies whose model the export does not name. */
  readonly #source: string;
  readonly #nodes: ReadonlyMap<string, ForeignNode>;
  readonly #children: ReadonlyMap<string | null, readonly ForeignNode[]>;
  /** Messages by the last node that they are from. */
  readonly #messageById = new Map<string, Message>();
  readonly #rounds = new Map<string, string>();
  /** The time of the last message below each message: siblings are ordered by their times. */
  readonly #lastTimes = new Map<string | null, number>();

  constructor(chat: ForeignChat, { now, source }: { now: number; source: string }) {
    this.#chat = chat;
    this.#now = now;
    this.#source = source;
    this.systemPrompt = chat.systemPrompt;
    this.#nodes = new Map(chat.nodes.map((node) => [node.id, node]));
    const children = new Map<string | null, ForeignNode[]>();
    for (const node of this.#nodes.values()) {
      const key = node.parentId !== null && this.#nodes.has(node.parentId) ? node.parentId : null;
      const siblings = children.get(key);
      if (siblings === undefined) children.set(key, [node]);
      else siblings.push(node);
    }
    this.#children = children;
  }

  /**
   * Visits the tree without recursion, since a chat may be thousands of messages deep. Returns the number of nodes: those in a circle have
   * no first one, and are not reached.
   */
  walk(): number {
    let reached = 0;
    const places: Place[] = this.#placesBelow(null, { parentId: null, draft: null });
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      reached += 1;
      for (const below of this.#visit(place)) places.push(below);
    }
    return reached;
  }

  /** The choices that show the branch of the current node. */
  chosen(): Record<string, string> {
    const byId = new Map(this.messages.map((message) => [message.id, message]));
    const chosen: Record<string, string> = {};
    let message = this.#currentMessage();
    while (message !== undefined) {
      chosen[message.parentId ?? ""] = message.id;
      message = message.parentId === null ? undefined : byId.get(message.parentId);
    }
    return chosen;
  }

  #currentMessage(): Message | undefined {
    const seen = new Set<string>();
    let id = this.#chat.currentId;
    while (id !== null && !seen.has(id)) {
      seen.add(id);
      const message = this.#messageById.get(id);
      if (message !== undefined) return message;
      id = this.#nodes.get(id)?.parentId ?? null;
    }
    return undefined;
  }

  /** In the reverse order, as they are put on a stack. */
  #placesBelow(id: string | null, place: Omit<Place, "node">): Place[] {
    return (this.#children.get(id) ?? []).map((node) => ({ node, ...place })).toReversed();
  }

  #visit({ node, parentId, draft }: Place): Place[] {
    if (node.role === "user") {
      const message = this.#addQuestion(node, draft === null ? parentId : this.#reply(draft).id);
      return this.#placesBelow(node.id, { parentId: message.id, draft: null });
    }
    if (node.role === "system" && this.systemPrompt === "") this.systemPrompt = node.text.trim();
    const continued = node.role === "assistant" ? joined(draft, node, parentId) : draft;
    const below = this.#placesBelow(node.id, { parentId, draft: continued });
    if (below.length === 0 && continued !== null) this.#reply(continued);
    return below;
  }

  #addQuestion(node: ForeignNode, parentId: string | null): Message {
    const message: Message = {
      role: "user",
      ...this.#placed(node, parentId),
      text: node.text,
      attachments: (node.files ?? []).map((file) => this.#attachment(file)),
    };
    return this.#add(node, message);
  }

  #attachment({ name, content }: ImportedFile): Attachment {
    const id = newId();
    if ("text" in content) return { kind: "text", id, name, bytes: content.text.length, text: content.text };
    this.images[id] = content.image;
    const [, type = ""] = /^data:([^;,]*)/.exec(content.image) ?? [];
    const base64 = content.image.slice(content.image.indexOf(",") + 1).replace(/=+$/, "");
    return { kind: "image", id, name, type, bytes: Math.floor((base64.length * 3) / 4) };
  }

  /** The message of a draft, which several questions may follow. */
  #reply(draft: Draft): ReplyMessage {
    if (draft.message !== null) return draft.message;
    const { node, text, thinking, thinkingMs, parentId } = draft;
    const message: ReplyMessage = {
      role: "assistant",
      ...this.#placed(node, parentId),
      text,
      reply: {
        model: node.model ?? this.#source,
        round: this.#round(node, parentId),
        thinking,
        thinkingMs: thinking === "" ? null : thinkingMs,
        status: "done",
        finish: "stop",
        error: null,
        figures: null,
      },
    };
    draft.message = message;
    this.#add(node, message);
    return message;
  }

  #round({ round }: ForeignNode, parentId: string | null): string {
    if (round === undefined) return newId();
    const key = `${parentId ?? ""} ${round}`;
    const known = this.#rounds.get(key) ?? newId();
    this.#rounds.set(key, known);
    return known;
  }

  #placed(node: ForeignNode, parentId: string | null) {
    const last = this.#lastTimes.get(parentId);
    const time = node.createdAt ?? this.#chat.createdAt ?? this.#now;
    const createdAt = last === undefined ? time : Math.max(time, last + 1);
    this.#lastTimes.set(parentId, createdAt);
    return { id: newId(), conversationId: this.conversationId, parentId, createdAt };
  }

  #add(node: ForeignNode, message: Message): Message {
    this.#messageById.set(node.id, message);
    this.messages.push(message);
    return message;
  }
}

/** The reply so far with what a further node adds. */
function joined(draft: Draft | null, node: ForeignNode, parentId: string | null): Draft {
  const { text, thinking = "", thinkingMs = null } = node;
  if (draft === null) return { text, thinking, thinkingMs, node, parentId, message: null };
  const model = node.model ?? draft.node.model ?? null;
  return {
    text: joinedText(draft.text, text),
    thinking: joinedText(draft.thinking, thinking),
    thinkingMs: draft.thinkingMs === null ? thinkingMs : draft.thinkingMs + (thinkingMs ?? 0),
    node: { ...node, model, createdAt: draft.node.createdAt ?? node.createdAt, round: draft.node.round },
    parentId: draft.parentId,
    message: null,
  };
}

export function joinedText(one: string, other: string): string {
  if (one === "" || other === "") return one + other;
  return `${one}\n\n${other}`;
}

/** Keys of `importText.leftOut`, in the order in which they are told. */
export const leftOutKinds = ["images", "audio", "files", "tools", "others"] as const;
type LeftOut = (typeof leftOutKinds)[number];

export type LeftOutCounts = Readonly<Partial<Record<LeftOut, number>>>;

export class LeftOutCounter {
  readonly #counts: Partial<Record<LeftOut, number>> = {};

  /** How many there were of each kind that there was. */
  get counts(): LeftOutCounts {
    return this.#counts;
  }

  add(kind: LeftOut, count = 1): void {
    if (count > 0) this.#counts[kind] = (this.#counts[kind] ?? 0) + count;
  }

  addAll(counts: LeftOutCounts): void {
    for (const kind of leftOutKinds) this.add(kind, counts[kind] ?? 0);
  }
}
