// Parses a growing reply into content, reasoning and tool calls, and emits each piece once it is certain. Every parse starts at the
// beginning of the reply, on a worker thread, so parses run one at a time, and rarely enough to take at most a tenth of the time,
// however long the reply is.
import type { ToolCall } from "../prompt/messages.ts";
import type { NativeReply } from "../native/addon.ts";

/** Null when the text does not follow its syntax. */
export type ReadReply = (text: string, isPartial: boolean) => Promise<NativeReply | null>;

/** Combines two parsers: the second finds calls in the content that the first returns. */
export function readContent(first: ReadReply, second: ReadReply): ReadReply {
  return async (text, isPartial) => {
    const whole = await first(text, isPartial);
    const content = whole === null ? null : await second(whole.content, isPartial);
    return whole === null || content === null ? null : { ...content, reasoning: whole.reasoning };
  };
}

/** A piece of a tool call: the first of an `index` has `id` and `name`; all `arguments` joined are a JSON object. */
export interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  arguments: string;
}

/** The pieces that have become certain since the last delta. */
export interface ReplyDelta {
  text: string;
  reasoning: string;
  toolCalls: ToolCallDelta[];
}

/** Everything that is certain so far. */
interface ReadSoFar {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
}

/** A pause between parses lasts this many times as long as the parse. */
const pauseFactor = 9;

interface ReplyReaderOptions {
  read: ReadReply;
  onDelta: (delta: ReplyDelta) => void;
  newId: () => string;
  /** Milliseconds of a monotonic clock. Default: `performance.now()`. */
  now?: () => number;
}

export class ReplyReader {
  readonly #options: Required<ReplyReaderOptions>;
  readonly #sure: ReadSoFar = { text: "", reasoning: "", toolCalls: [] };
  #raw = "";
  /** The length of the text at the last parse. */
  #readLength = 0;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReplyReaderOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  get sure(): Readonly<ReadSoFar> {
    return this.#sure;
  }

  /** Adds text to the reply. */
  push(text: string): void {
    this.#raw += text;
    if (this.#reading === undefined && this.#timer === undefined) this.#reading = this.#readNow();
  }

  /** Ends the reply; resolves once all of it was emitted. `isCut`: it ended at a limit. */
  async finish(isCut: boolean): Promise<void> {
    clearTimeout(this.#timer);
    await this.#reading;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const reply = await this.#options.read(this.#raw, isCut);
    if (reply === null || !reply.calls.every(hasJsonArguments(isCut))) this.#emitRaw();
    else this.#emitReply(reply, true);
  }

  /** Stops emitting. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #readNow(): Promise<void> {
    const { now } = this.#options;
    const begin = now();
    this.#readLength = this.#raw.length;
    const reply = await this.#readPrefix();
    this.#reading = undefined;
    if (this.#isClosed) return;
    if (reply !== null) this.#emitReply(reply, false);
    this.#timer = setTimeout(() => this.#again(), (now() - begin) * pauseFactor);
  }

  /** Ignores errors: they occur again in the final parse, which throws them. */
  async #readPrefix(): Promise<NativeReply | null> {
    try {
      return await this.#options.read(this.#raw, true);
    } catch {
      return null;
    }
  }

  #again(): void {
    this.#timer = undefined;
    if (this.#raw.length > this.#readLength) this.#reading = this.#readNow();
  }

  /** Emits the rest as content: what looked like a call was none. */
  #emitRaw(): void {
    if (this.#sure.toolCalls.length > 0) return;
    const known = this.#sure.text;
    const rest = this.#raw.startsWith(known) ? this.#raw.slice(known.length) : this.#raw;
    this.#add({ text: rest, reasoning: "", toolCalls: [] });
  }

  #emitReply(reply: NativeReply, isWhole: boolean): void {
    const toolCalls: ToolCallDelta[] = [];
    for (const [index, call] of reply.calls.entries()) {
      // A name may still grow; it is certain once something follows it.
      const isNameSure = isWhole || call.arguments !== "" || index + 1 < reply.calls.length;
      if (call.name === "" || !isNameSure) break;
      const delta = this.#callDelta(index, call, isWhole);
      if (delta !== undefined) toolCalls.push(delta);
    }
    this.#add({
      text: added(this.#sure.text, reply.content),
      reasoning: added(this.#sure.reasoning, reply.reasoning),
      toolCalls,
    });
  }

  #callDelta(index: number, call: ToolCall, isWhole: boolean): ToolCallDelta | undefined {
    const known = this.#sure.toolCalls[index];
    const wanted = isWhole && call.arguments === "" ? "{}" : call.arguments;
    if (known !== undefined) {
      const more = added(known.arguments, wanted);
      return more === "" ? undefined : { index, arguments: more };
    }
    const id = call.id === "" ? this.#options.newId() : call.id;
    return { index, id, name: call.name, arguments: wanted };
  }

  #add(delta: ReplyDelta): void {
    if (delta.text === "" && delta.reasoning === "" && delta.toolCalls.length === 0) return;
    this.#sure.text += delta.text;
    this.#sure.reasoning += delta.reasoning;
    for (const { index, id = "", name = "", arguments: fragment } of delta.toolCalls) {
      const known = this.#sure.toolCalls[index];
      if (known === undefined) this.#sure.toolCalls[index] = { id, name, arguments: fragment };
      else known.arguments += fragment;
    }
    this.#options.onDelta(delta);
  }
}

/** The part of `now` after `before`; empty if it is no continuation, which can happen in partial replies. */
function added(before: string, now: string): string {
  return now.startsWith(before) ? now.slice(before.length) : "";
}

/** Whether a call's arguments are a JSON object; in a reply that was cut, they may be incomplete. */
function hasJsonArguments(isCut: boolean): (call: ToolCall) => boolean {
  return ({ arguments: text }) => {
    if (isCut || text === "") return true;
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "object" && value !== null && !Array.isArray(value);
    } catch {
      return false;
    }
  };
}
