// A running generation as the events of a streamed answer in Anthropic's shape. Used by routes/messages.ts.
//
//   before ──▶ between ──▶ thinking, text, tool_use ──▶ …        one block after the other, each opened and closed
//                 │          │
//                 └──────────┴──▶ over
//
// What has to be said on the way from one state to the next is said by one function, `move`.
import type { Generation, GenerationChunk, GenerationResult, ToolCallDelta } from "@ingle/engine";
import type { ContentBlock, AnthropicMessage, ContentDelta, MessageStreamEvent } from "@ingle/protocol";
import { namedEvent } from "../../http/event-stream.ts";
import { begunMessage, toMessageUsage, toStop, type MessageHead } from "./response.ts";

/**
 * The first event is not written before the first piece is there: until then an error is an HTTP error.
 * Throws what the generation throws.
 */
export async function* toEvents(
  head: MessageHead,
  generation: Generation,
): AsyncGenerator<string, void, undefined> {
  const writer = messageWriter(() => begunMessage(head, generation.promptTokens ?? 0));
  for await (const piece of generation) yield* written(writer.piece(piece));
  yield* written(writer.end(await generation));
}

function written(events: readonly MessageStreamEvent[]): string[] {
  return events.map((event) => namedEvent(event.type, JSON.stringify(event)));
}

type State =
  /** Nothing was sent. */
  | { kind: "before" }
  /** No block is open. */
  | { kind: "between" }
  /** A block of this kind is open; of a call, which one of the reply's. */
  | { kind: "thinking" | "text" }
  | { kind: "tool_use"; call: number }
  | { kind: "over" };

function messageWriter(begin: () => AnthropicMessage) {
  let state: State = { kind: "before" };
  /** Of the block that is or was open last. */
  let index = -1;

  const delta = (content: ContentDelta): MessageStreamEvent => ({
    type: "content_block_delta",
    index,
    delta: content,
  });

  /** Into a block's state with the block as it begins. */
  const move = (next: State, block?: ContentBlock): MessageStreamEvent[] => {
    const events: MessageStreamEvent[] = [];
    if (state.kind === "over") throw new Error("A message that is over cannot go on.");
    if (state.kind === "before") events.push({ type: "message_start", message: begin() });
    // Clients keep thoughts to send them back only once they are signed, be it with nothing.
    if (state.kind === "thinking") events.push(delta({ type: "signature_delta", signature: "" }));
    if (state.kind !== "before" && state.kind !== "between")
      events.push({ type: "content_block_stop", index });
    state = next;
    if (block === undefined) return events;
    index += 1;
    return [...events, { type: "content_block_start", index, content_block: block }];
  };

  const thinking = (thought: string): MessageStreamEvent[] => {
    const block = { type: "thinking", thinking: "", signature: "" } as const;
    const opened = state.kind === "thinking" ? [] : move({ kind: "thinking" }, block);
    return [...opened, delta({ type: "thinking_delta", thinking: thought })];
  };

  const text = (content: string): MessageStreamEvent[] => {
    const opened = state.kind === "text" ? [] : move({ kind: "text" }, { type: "text", text: "" });
    return [...opened, delta({ type: "text_delta", text: content })];
  };

  const newCall = ({
    index: call,
    id = "",
    name = "",
    arguments: json,
  }: ToolCallDelta): MessageStreamEvent[] => [
    ...move({ kind: "tool_use", call }, { type: "tool_use", id, name, input: {} }),
    ...(json === "" ? [] : [delta({ type: "input_json_delta", partial_json: json })]),
  ];

  /** Once another block is open, only the `{}` of a call without arguments can still come, and says nothing new. */
  const moreOfCall = ({ index: call, arguments: json }: ToolCallDelta): MessageStreamEvent[] =>
    state.kind === "tool_use" && state.call === call
      ? [delta({ type: "input_json_delta", partial_json: json })]
      : [];

  return {
    /** What belongs to the block that is open goes first. */
    piece: ({ text: content, reasoning, toolCalls = [] }: GenerationChunk): MessageStreamEvent[] => [
      ...(state.kind === "before" ? move({ kind: "between" }) : []),
      ...toolCalls.filter(({ id }) => id === undefined).flatMap(moreOfCall),
      ...(reasoning === undefined ? [] : thinking(reasoning)),
      ...(content === "" ? [] : text(content)),
      ...toolCalls.filter(({ id }) => id !== undefined).flatMap(newCall),
    ],
    end: (result: GenerationResult): MessageStreamEvent[] => [
      ...move({ kind: "over" }),
      { type: "message_delta", delta: toStop(result), usage: toMessageUsage(result) },
      { type: "message_stop" },
    ],
  };
}
