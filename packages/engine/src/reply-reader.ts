// Reads a reply while it grows: what is content, what is reasoning, and which tools are called, each as it becomes sure.
// Reading starts from the reply's beginning each time, on a worker thread; so it is done once at a time, and seldom
// enough to take no more than a tenth of the time, however long the reply is. Used by Generation.
import type { ToolCall } from "./messages.ts";
import type { NativeReply } from "./native.ts";

/** Null when the text does not follow its syntax. */
export type ReadReply = (text: string, isPartial: boolean) => Promise<NativeReply | null>;

/** Reads a reply twice: what the first finds to be content is read by the second, which tells calls from it. */
export function readContent(first: ReadReply, second: ReadReply): ReadReply {
  return async (text, isPartial) => {
    const whole = await first(text, isPartial);
    const content = whole === null ? null : await second(whole.content, isPartial);
    return whole === null || content === null ? null : { ...content, reasoning: whole.reasoning };
  };
}

/** A part of a call: the first of an `index` has `id` and `name`; all `arguments` together are a JSON object. */
export interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  arguments: string;
}

/** What has become sure since the last one. */
export interface ReplyDelta {
  text: string;
  reasoning: string;
  toolCalls: ToolCallDelta[];
}

/** What was read of a reply in all. */
export interface ReadSoFar {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
}

/** Pauses between readings last so many times as long as a reading. */
const pauseFactor = 9;

export interface ReplyReaderOptions {
  read: ReadReply;
  onDelta: (delta: ReplyDelta) => void;
  newId: () => string;
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
}

export class ReplyReader {
  readonly #options: Required<ReplyReaderOptions>;
  readonly #sure: ReadSoFar = { text: "", reasoning: "", toolCalls: [] };
  #raw = "";
  /** Length of the text when it was read last. */
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

  /** More of the reply has come. */
  push(text: string): void {
    this.#raw += text;
    if (this.#reading === undefined && this.#timer === undefined) this.#reading = this.#readNow();
  }

  /** The reply is over; resolves when all of it was handed on. `isCut`: it ended at a limit. */
  async finish(isCut: boolean): Promise<void> {
    clearTimeout(this.#timer);
    await this.#reading;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const reply = await this.#options.read(this.#raw, isCut);
    if (reply === null || !reply.calls.every(hasJsonArguments(isCut))) this.#giveRaw();
    else this.#hand(reply, true);
  }

  /** Nothing more is wanted. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #readNow(): Promise<void> {
    const { now } = this.#options;
    const begin = now();
    this.#readLength = this.#raw.length;
    const reply = await this.#readBeginning();
    this.#reading = undefined;
    if (this.#isClosed) return;
    if (reply !== null) this.#hand(reply, false);
    this.#timer = setTimeout(() => this.#again(), (now() - begin) * pauseFactor);
  }

  /** What goes wrong here goes wrong again at the end, and is thrown there. */
  async #readBeginning(): Promise<NativeReply | null> {
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

  /** What is no call after all is content, with all that was not handed on yet. */
  #giveRaw(): void {
    if (this.#sure.toolCalls.length > 0) return;
    const known = this.#sure.text;
    const rest = this.#raw.startsWith(known) ? this.#raw.slice(known.length) : this.#raw;
    this.#add({ text: rest, reasoning: "", toolCalls: [] });
  }

  #hand(reply: NativeReply, isWhole: boolean): void {
    const toolCalls: ToolCallDelta[] = [];
    for (const [index, call] of reply.calls.entries()) {
      // A name may still grow; it is sure once something stands behind it.
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

/** What `now` has beyond `before`; nothing when it is no continuation, which a beginning may seem to be for a while. */
function added(before: string, now: string): string {
  return now.startsWith(before) ? now.slice(before.length) : "";
}

/** Whether a call's arguments are a JSON object; of a reply that was cut they need not be whole. */
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
