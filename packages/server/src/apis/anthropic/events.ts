// The events of a streamed message: a state machine over the chunks of a generation.
//
//   before ──▶ between ──▶ thinking, text, tool_use ──▶ …        one block after the other, each opened and closed
//                 │          │
//                 └──────────┴──▶ over
//
// One function, `move`, writes the events between one state and the next.
import type { Generation, GenerationChunk, GenerationResult, ToolCallDelta } from "@ingle/engine";
import type { ContentBlock, AnthropicMessage, ContentDelta, MessageStreamEvent } from "@ingle/protocol";
import { namedEvent } from "../../http/event-stream.ts";
import { begunMessage, toMessageUsage, toStop, type MessageForm, type MessageHead } from "./response.ts";

/**
 * The first event comes with the first token: until then an error is an HTTP error. It counts the cached tokens if the
 * generation reports its prompt. Throws what the generation throws.
 */
export async function* toEvents(
  head: MessageHead,
  generation: Generation,
  form: MessageForm = {},
): AsyncGenerator<string, void, undefined> {
  let cachedTokens = 0;
  const begin = () => begunMessage(head, { promptTokens: generation.promptTokens ?? 0, cachedTokens });
  const writer = messageWriter(begin, form);
  for await (const piece of generation) {
    if (piece.prompt === undefined) yield* written(writer.piece(piece));
    else ({ cachedTokens } = piece.prompt);
  }
  yield* written(writer.end(await generation));
}

function written(events: readonly MessageStreamEvent[]): string[] {
  return events.map((event) => namedEvent(event.type, JSON.stringify(event)));
}

type State =
  /** Nothing has been sent. */
  | { kind: "before" }
  /** No block is open. */
  | { kind: "between" }
  /** A block of this kind is open; `call` is the index of a call in the reply. */
  | { kind: "thinking" | "text" }
  | { kind: "tool_use"; call: number }
  | { kind: "over" };

function messageWriter(begin: () => AnthropicMessage, { omitsThinking = false }: MessageForm) {
  let state: State = { kind: "before" };
  /** Index of the last opened block. */
  let index = -1;

  const delta = (content: ContentDelta): MessageStreamEvent => ({
    type: "content_block_delta",
    index,
    delta: content,
  });

  /** Moves to the next state; `block` is the block to open there. */
  const move = (next: State, block?: ContentBlock): MessageStreamEvent[] => {
    const events: MessageStreamEvent[] = [];
    if (state.kind === "over") throw new Error("A message that is over cannot continue.");
    if (state.kind === "before") events.push({ type: "message_start", message: begin() });
    // Clients send thinking back only if it is signed, even with an empty signature.
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
    return omitsThinking ? opened : [...opened, delta({ type: "thinking_delta", thinking: thought })];
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

  /** Once another block is open, only the `{}` of a call without arguments can still come, which adds nothing. */
  const moreOfCall = ({ index: call, arguments: json }: ToolCallDelta): MessageStreamEvent[] =>
    state.kind === "tool_use" && state.call === call
      ? [delta({ type: "input_json_delta", partial_json: json })]
      : [];

  return {
    /** What continues the open block comes first. */
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
