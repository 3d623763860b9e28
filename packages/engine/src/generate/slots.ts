// llama-server's slots: numbered names for texts. Each request takes one; when it has ended, the slot names its text, prompt and reply,
// whose computed state can then be saved to a file, restored into the prefix cache, and erased. Slots limit nothing: any number of
// requests may have the same one, and the prefix cache serves all of them.
import { readdir } from "node:fs/promises";
import path from "node:path";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { endsRequest } from "../native/event-receivers.ts";
import {
  awaitOrAbort,
  fromNative,
  type NativeEngine,
  type NativeEvent,
  type NativeSlotChange,
} from "../native/addon.ts";

/** A request without a slot of its own continues the one whose prompt shares at least this part with its own, as in llama-server. */
const similarMin = 0.1;

/** Maximum number of files in the folder: as much disk as so many times `cacheRamMiB`. */
const filesMax = 1000;

/** File systems allow 255 bytes. */
const nameBytesMax = 200;
/** Without what separates folders, hides a file, or means something else on some system. */
const fileName = /^(?!\.)(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[^\p{Cc}\\/:*?"<>|]+(?<![. ])$/iu;

/** What was saved, restored or erased. */
export type SlotChange = NativeSlotChange;

export interface ChangeSlotOptions {
  signal?: AbortSignal | undefined;
}

interface Slot {
  readonly id: number;
  running: number;
  /** Of the request that took it last. */
  prompt: Int32Array;
  /** Counts requests. */
  usedAt: number;
}

/** The last use of each file that any model of this process writes or reads: the next one begins when it has ended. */
const filesInUse = new Map<string, Promise<void>>();

export class Slots {
  readonly #engine: NativeEngine;
  readonly #folder: string;
  readonly #slots: readonly Slot[];
  #uses = 0;

  /** `folder` is empty if no files are allowed. */
  constructor(engine: NativeEngine, count: number, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
    this.#slots = Array.from({ length: count }, (_, id) => ({
      id,
      running: 0,
      prompt: new Int32Array(),
      usedAt: 0,
    }));
  }

  /** Whether slots can be saved and restored: the model was loaded with `slotDir`. */
  get hasFolder(): boolean {
    return this.#folder !== "";
  }

  /**
   * Starts a request in the slot that it names, or in the best one for its prompt, which it has until its last event. `start` gets the
   * slot and the receiver of the events. Throws `invalid_request`, and what `start` throws.
   */
  start<Started>(
    named: number | undefined,
    prompt: Int32Array,
    onEvent: (event: NativeEvent) => void,
    start: (idSlot: number, onEvent: (event: NativeEvent) => void) => Started,
  ): Started & { idSlot: number } {
    const slot = named === undefined ? this.#choose(prompt) : this.#find("idSlot", named);
    const started = start(slot.id, (event) => {
      if (endsRequest(event)) slot.running -= 1;
      onEvent(event);
    });
    slot.running += 1;
    slot.prompt = prompt;
    slot.usedAt = this.#uses += 1;
    return { ...started, idSlot: slot.id };
  }

  /**
   * Writes the state of a slot's text to a file of the model's `slotDir`. Texts of fewer than 64 tokens are saved, but not restored:
   * they are computed as fast. Rejects with `invalid_request` (no request of the slot has ended, its text is no longer cached or has
   * images, the model keeps no state in host memory, or there is a folder with this name), `out_of_memory` (it does not fit `cacheRamMiB`),
   * `engine_failed` (the disk is full, or the folder cannot be written), `engine_crashed`, `disposed`, or the signal's reason.
   */
  async save(id: number, file: string, options: ChangeSlotOptions = {}): Promise<SlotChange> {
    return await this.#withFile(file, options, async () => {
      const files = await readdir(this.#folder);
      if (files.length >= filesMax && !files.includes(file))
        throw invalidRequest("file", `the folder has ${filesMax} files already; delete some of them.`);
      return await this.#change({ action: "save", idSlot: id, file }, options);
    });
  }

  /**
   * Reads a file that was saved: requests whose prompts begin with its text copy the state instead of computing it, and the slot names
   * the text. Rejects like `save()`, and with `invalid_request` for a file that is missing, is damaged, or was saved by another model,
   * build or setting of the KV cache.
   */
  async restore(id: number, file: string, options: ChangeSlotOptions = {}): Promise<SlotChange> {
    return await this.#withFile(file, options, async () => {
      const change = await this.#change({ action: "restore", idSlot: id, file }, options);
      // A request that names no slot does not take this one, unless all others are younger.
      this.#find("id", id).usedAt = this.#uses += 1;
      return change;
    });
  }

  /** Drops the state of a slot's text from the prefix cache, except what other texts have in common with it. Rejects like `save()`. */
  async erase(id: number, options: ChangeSlotOptions = {}): Promise<SlotChange> {
    return await this.#change({ action: "erase", idSlot: id, file: "" }, options);
  }

  async #change(
    command: Parameters<NativeEngine["changeSlot"]>[0],
    { signal }: ChangeSlotOptions,
  ): Promise<SlotChange> {
    const { id } = this.#find("id", command.idSlot);
    signal?.throwIfAborted();
    const work = this.#engine.changeSlot({ ...command, idSlot: id });
    return await awaitOrAbort(signal, () => work.abort(), fromNative(work.done));
  }

  async #withFile(
    name: string,
    { signal }: ChangeSlotOptions,
    use: () => Promise<SlotChange>,
  ): Promise<SlotChange> {
    if (this.#folder === "")
      throw new EngineError(
        "invalid_request",
        "The model was loaded without `slotDir`, the folder of these files.",
      );
    if (!fileName.test(name) || Buffer.byteLength(name) > nameBytesMax) {
      const rule = `it must be a file's name of at most ${nameBytesMax} bytes, without a folder and special characters.`;
      throw invalidRequest("file", rule);
    }
    const file = path.join(this.#folder, name);
    const before = filesInUse.get(file);
    const change = (async () => {
      await before;
      signal?.throwIfAborted();
      return await use();
    })();
    const end = waitForChange(change);
    filesInUse.set(file, end);
    try {
      return await change;
    } finally {
      if (filesInUse.get(file) === end) filesInUse.delete(file);
    }
  }

  #find(param: string, id: number): Slot {
    const slot = this.#slots[id];
    if (slot !== undefined) return slot;
    throw invalidRequest(param, `it must be an integer below ${this.#slots.length}, the number of slots.`);
  }

  /** Of the idle slots, the one with the most similar prompt, or the one that was used longest ago. */
  #choose(prompt: Int32Array): Slot {
    const idle = this.#slots.filter(({ running }) => running === 0);
    const candidates = idle.length > 0 ? idle : this.#slots;
    const oldestFirst = candidates
      .toSorted((one, other) => one.usedAt - other.usedAt)
      .map((slot) => ({ slot, common: commonLength(slot.prompt, prompt) }));
    const [similar] = oldestFirst.toSorted((one, other) => other.common - one.common);
    const [oldest] = oldestFirst;
    if (similar === undefined || oldest === undefined) throw new Error("A model has at least one slot.");
    return similar.common >= similarMin * prompt.length ? similar.slot : oldest.slot;
  }
}

async function waitForChange(change: Promise<SlotChange>): Promise<void> {
  try {
    await change;
  } catch {
    // Whoever asked for the change gets the error.
  }
}

function commonLength(one: Int32Array, other: Int32Array): number {
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && one[length] === other[length]) length += 1;
  return length;
}
