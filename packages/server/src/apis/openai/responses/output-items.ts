// The output items of a response while it is generated, and their events: a state machine over the chunks of a generation.
//
//   nothing ──▶ reasoning ──▶ message ──▶ nothing      one text is open at a time; each transition closes one and opens the next
//                                  └────▶ call …       calls are open side by side until the response ends: parts of an
//                                                      earlier one may come after a later one has begun
import type { GenerationChunk, ToolCallDelta } from "@ingle/engine";
import type { ResponsesEvent, ResponsesOutputItem } from "@ingle/protocol";
import { toTokenLogprobs } from "../../../generation/usage.ts";
import { CustomInput } from "./custom-input.ts";
import type { toolFinder } from "./tools.ts";

type Unnumbered<Event> = Event extends unknown ? Omit<Event, "sequence_number"> : never;
/** An event without its sequence number. */
export type UnnumberedEvent = Unnumbered<ResponsesEvent>;

type Item<Type> = Extract<ResponsesOutputItem, { type: Type }>;
type Message = Item<"message">;
type Reasoning = Item<"reasoning">;

/** A call that is being generated. The text of a custom tool's call is decoded from its arguments. */
type OpenCall =
  | { kind: "function"; item: Item<"function_call">; place: Place }
  | { kind: "custom"; item: Item<"custom_tool_call">; place: Place; decoded: CustomInput };

/** The tool that the model calls by a name. */
export type FindTool = ReturnType<typeof toolFinder>;

/** A text that is being generated. */
type OpenText =
  | { kind: "message"; item: Message; part: Message["content"][number]; place: Place }
  | { kind: "reasoning"; item: Reasoning; part: Reasoning["content"][number]; place: Place };
type Open = OpenText | { kind: "nothing" };

interface Place {
  item_id: string;
  output_index: number;
}

type Events = Generator<UnnumberedEvent, void, undefined>;

export class OutputItems {
  readonly #newId: () => string;
  readonly #items: ResponsesOutputItem[] = [];
  readonly #findTool: FindTool;
  readonly #calls = new Map<number, OpenCall>();
  #open: Open = { kind: "nothing" };

  /** `newId` returns unique letters and digits. */
  constructor(newId: () => string, findTool: FindTool) {
    this.#newId = newId;
    this.#findTool = findTool;
  }

  /** The items so far. A closed item no longer changes. */
  get items(): readonly ResponsesOutputItem[] {
    return this.#items;
  }

  *add({ text, reasoning = "", toolCalls = [], logprobs = [] }: GenerationChunk): Events {
    if (reasoning !== "") {
      yield* this.#move("reasoning");
      yield* this.#write(reasoning, []);
    }
    // Log probabilities of tokens without text belong to the open message.
    const hasOnlyLogprobs = reasoning === "" && toolCalls.length === 0 && logprobs.length > 0;
    if (text !== "" || (hasOnlyLogprobs && this.#open.kind === "message")) {
      yield* this.#move("message");
      yield* this.#write(text, logprobs);
    }
    for (const call of toolCalls) yield* this.#addCall(call);
  }

  /** Ends the response. `isCut`: a limit has cut off its last item. A response without output is an empty message. */
  *finish(isCut: boolean): Events {
    if (this.#items.length === 0) yield* this.#move("message");
    const cutIndex = isCut ? this.#items.length - 1 : -1;
    for (const call of this.#calls.values()) {
      const { item, place } = call;
      const { output_index } = place;
      item.status = output_index === cutIndex ? "incomplete" : "completed";
      if (call.kind === "custom" && item.status === "completed") yield* writeInput(call, call.decoded.end());
      yield doneEvent(call);
      yield { type: "response.output_item.done", output_index, item };
    }
    yield* this.#move("nothing", isCut);
  }

  /** Closes the open text, and opens one of `kind`. */
  *#move(kind: Open["kind"], isCut = false): Events {
    if (this.#open.kind === kind) return;
    if (this.#open.kind !== "nothing") yield* this.#close(this.#open, isCut ? "incomplete" : "completed");
    this.#open = { kind: "nothing" };
    if (kind === "nothing") return;
    const open = kind === "message" ? this.#newMessage() : this.#newReasoning();
    this.#open = open;
    const { item, part, place } = open;
    const { output_index } = place;
    yield { type: "response.output_item.added", output_index, item: { ...item, content: [] } };
    yield { type: "response.content_part.added", ...place, content_index: 0, part: structuredClone(part) };
  }

  #newMessage(): OpenText {
    const part: Message["content"][number] = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const item: Message = {
      id: `msg_${this.#newId()}`,
      type: "message",
      role: "assistant",
      status: "in_progress",
      content: [part],
    };
    return { kind: "message", item, part, place: this.#put(item) };
  }

  #newReasoning(): OpenText {
    const part: Reasoning["content"][number] = { type: "reasoning_text", text: "" };
    const item: Reasoning = {
      id: `rs_${this.#newId()}`,
      type: "reasoning",
      status: "in_progress",
      summary: [],
      content: [part],
    };
    return { kind: "reasoning", item, part, place: this.#put(item) };
  }

  /** Appends to the open text. */
  *#write(delta: string, tokens: NonNullable<GenerationChunk["logprobs"]>): Events {
    const open = this.#open;
    if (open.kind === "nothing") return;
    open.part.text += delta;
    const inPart = { ...open.place, content_index: 0, delta };
    if (open.kind === "reasoning") yield { type: "response.reasoning_text.delta", ...inPart };
    else {
      const logprobs = toTokenLogprobs(tokens);
      open.part.logprobs.push(...logprobs);
      yield { type: "response.output_text.delta", ...inPart, logprobs };
    }
  }

  *#close(open: OpenText, status: "completed" | "incomplete"): Events {
    const { item, part, place } = open;
    item.status = status;
    const inPart = { ...place, content_index: 0 };
    const { text } = part;
    if (open.kind === "reasoning") yield { type: "response.reasoning_text.done", ...inPart, text };
    else yield { type: "response.output_text.done", ...inPart, text, logprobs: open.part.logprobs };
    yield { type: "response.content_part.done", ...inPart, part };
    yield { type: "response.output_item.done", output_index: place.output_index, item };
  }

  *#addCall({ index, id = "", name = "", arguments: fragment }: ToolCallDelta): Events {
    let call = this.#calls.get(index);
    if (call === undefined) {
      yield* this.#move("nothing");
      call = this.#newCall(id, name);
      this.#calls.set(index, call);
      const { output_index } = call.place;
      yield { type: "response.output_item.added", output_index, item: { ...call.item } };
    }
    if (call.kind === "custom") yield* writeInput(call, call.decoded.add(fragment));
    else if (fragment !== "") {
      call.item.arguments += fragment;
      yield { type: "response.function_call_arguments.delta", ...call.place, delta: fragment };
    }
  }

  #newCall(id: string, calledName: string): OpenCall {
    const { type, name, namespace } = this.#findTool(calledName);
    const fields = {
      status: "in_progress" as const,
      call_id: id,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    };
    if (type === "custom") {
      const item = { id: `ctc_${this.#newId()}`, type: "custom_tool_call" as const, ...fields, input: "" };
      return { kind: "custom", item, place: this.#put(item), decoded: new CustomInput() };
    }
    const item = { id: `fc_${this.#newId()}`, type: "function_call" as const, ...fields, arguments: "" };
    return { kind: "function", item, place: this.#put(item) };
  }

  #put(item: ResponsesOutputItem): Place {
    this.#items.push(item);
    return { item_id: item.id, output_index: this.#items.length - 1 };
  }
}

function* writeInput({ item, place }: Extract<OpenCall, { kind: "custom" }>, delta: string): Events {
  if (delta === "") return;
  item.input += delta;
  yield { type: "response.custom_tool_call_input.delta", ...place, delta };
}

function doneEvent({ item, place }: OpenCall): UnnumberedEvent {
  if (item.type === "custom_tool_call")
    return { type: "response.custom_tool_call_input.done", ...place, input: item.input };
  const { name, arguments: text } = item;
  return { type: "response.function_call_arguments.done", ...place, name, arguments: text };
}
