// llama-server's slots: numbered names for texts. Each request takes one; when it has ended, the slot names its text, prompt and reply,
// whose computed state can then be saved to a file, restored into the prefix cache, and erased. Slots limit nothing: any number of
// requests may have the same one, and the prefix cache serves all of them. Requests with a `cacheSalt` have slots of their own.
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { toNativeSalt } from "./cache-salt.ts";
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

/** Maximum number of files in a folder, each as large as `cacheRamMiB` at most, and of salts that have one. */
const filesMax = 1000;

/** Maximum number of salts whose slots are known; those of the one that was used longest ago are forgotten. */
const saltsMax = 1000;

/** File systems allow 255 bytes. */
const nameBytesMax = 200;
/** Without what separates folders, hides a file, or means something else on some system. */
const fileName = /^(?!\.)(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[^\p{Cc}\\/:*?"<>|]+(?<![. ])$/iu;

/** What was saved, restored or erased. */
export type SlotChange = NativeSlotChange;

export interface ChangeSlotOptions {
  signal?: AbortSignal | undefined;
  /** That of the requests whose slot this is. */
  cacheSalt?: string | undefined;
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
  readonly #count: number;
  /** By salt, the one used last at the end. */
  readonly #slots = new Map<string, readonly Slot[]>();
  #uses = 0;

  /** `folder` is empty if no files are allowed. */
  constructor(engine: NativeEngine, count: number, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
    this.#count = count;
  }

  /** How many requests with this salt run or wait. */
  inUse(cacheSalt: string | undefined): number {
    const slots = this.#slots.get(toNativeSalt(cacheSalt)) ?? [];
    return slots.reduce((sum, { running }) => sum + running, 0);
  }

  /** Whether slots can be saved and restored: the model was loaded with `slotDir`. */
  get hasFolder(): boolean {
    return this.#folder !== "";
  }

  /**
   * Starts a request in the slot that it names, or in the best one of its salt for its prompt, which it has until its last event. `start`
   * gets the slot and the receiver of the events. Throws `invalid_request`, and what `start` throws.
   */
  start<Started>(
    { idSlot: named, cacheSalt }: { idSlot?: number | undefined; cacheSalt?: string | undefined },
    prompt: Int32Array,
    onEvent: (event: NativeEvent) => void,
    start: (idSlot: number, onEvent: (event: NativeEvent) => void) => Started,
  ): Started & { idSlot: number } {
    const slots = this.#slotsOf(toNativeSalt(cacheSalt));
    const slot = named === undefined ? choose(slots, prompt) : find(slots, "idSlot", named);
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
      const salt = toNativeSalt(options.cacheSalt);
      await this.#makeRoom(this.#folder, salt === "" ? file : salt);
      if (salt !== "") {
        const folder = path.join(this.#folder, salt);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await this.#makeRoom(folder, file);
      }
      return await this.#change({ action: "save", idSlot: id, file }, options);
    });
  }

  /** Throws `invalid_request` if the folder is full. */
  async #makeRoom(folder: string, name: string): Promise<void> {
    const names = await readdir(folder);
    if (names.length >= filesMax && !names.includes(name))
      throw invalidRequest("file", `the folder has ${filesMax} files already; delete some of them.`);
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
      find(this.#slotsOf(toNativeSalt(options.cacheSalt)), "id", id).usedAt = this.#uses += 1;
      return change;
    });
  }

  /** Drops the state of a slot's text from the prefix cache, except what other texts have in common with it. Rejects like `save()`. */
  async erase(id: number, options: ChangeSlotOptions = {}): Promise<SlotChange> {
    return await this.#change({ action: "erase", idSlot: id, file: "" }, options);
  }

  async #change(
    command: Omit<Parameters<NativeEngine["changeSlot"]>[0], "cacheSalt">,
    { signal, cacheSalt }: ChangeSlotOptions,
  ): Promise<SlotChange> {
    const salt = toNativeSalt(cacheSalt);
    const { id } = find(this.#slotsOf(salt), "id", command.idSlot);
    signal?.throwIfAborted();
    const work = this.#engine.changeSlot({ ...command, idSlot: id, cacheSalt: salt });
    return await awaitOrAbort(signal, () => work.abort(), fromNative(work.done));
  }

  async #withFile(
    name: string,
    { signal, cacheSalt }: ChangeSlotOptions,
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
    const file = path.join(this.#folder, toNativeSalt(cacheSalt), name);
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

  #slotsOf(salt: string): readonly Slot[] {
    const known = this.#slots.get(salt);
    const slots =
      known ??
      Array.from({ length: this.#count }, (_, id) => ({
        id,
        running: 0,
        prompt: new Int32Array(),
        usedAt: 0,
      }));
    this.#slots.delete(salt);
    this.#slots.set(salt, slots);
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > saltsMax && oldest !== undefined) this.#slots.delete(oldest);
    return slots;
  }
}

function find(slots: readonly Slot[], param: string, id: number): Slot {
  const slot = slots[id];
  if (slot !== undefined) return slot;
  throw invalidRequest(param, `it must be an integer below ${slots.length}, the number of slots.`);
}

/** Of the idle slots, the one with the most similar prompt, or the one that was used longest ago. */
function choose(slots: readonly Slot[], prompt: Int32Array): Slot {
  const idle = slots.filter(({ running }) => running === 0);
  const candidates = idle.length > 0 ? idle : slots;
  const oldestFirst = candidates
    .toSorted((one, other) => one.usedAt - other.usedAt)
    .map((slot) => ({ slot, common: commonLength(slot.prompt, prompt) }));
  const [similar] = oldestFirst.toSorted((one, other) => other.common - one.common);
  const [oldest] = oldestFirst;
  if (similar === undefined || oldest === undefined) throw new Error("A model has at least one slot.");
  return similar.common >= similarMin * prompt.length ? similar.slot : oldest.slot;
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
