// Structure-aware mutations of model files, for mutated-models.model.test.ts: each changes one part of a file to what a broken or hostile
// converter could write. A mutant is identified by its number; the same number always gives the same mutant.
import { tensorTypes } from "@ingle/gguf";
import {
  arrayType,
  decodeValue,
  encodeValue,
  putTogether,
  stringType,
  type Draft,
  type DraftEntry,
  type DraftTensor,
  type DraftValue,
} from "./gguf-draft.ts";
import {
  addableKeys,
  addableTensors,
  architectures,
  pretokenizers,
  tokenizerModels,
} from "./mutant-names.ts";
import { Choice, oddItem, oddNumber, oddText, oddTexts, valueBytes } from "./odd-values.ts";

export interface Mutant {
  file: Buffer;
  /** The change, for analyzing a failure. */
  story: string;
}

type Change = [draft: Draft, story: string];
type Mutation = (draft: Draft, choice: Choice) => Change;

/** The mutant with this number of the file `whole`, whose name is `name`. */
export function mutant(name: string, whole: Draft, number: number): Mutant {
  const choice = new Choice(number, name);
  // Two changes at once reach code that a single one never gets to.
  const changes = choice.below(4) === 0 ? 2 : 1;
  let draft = whole;
  const stories: string[] = [];
  for (let i = 0; i < changes; i++) {
    const [changed, story] = choice.of(weighted)(draft, choice);
    draft = changed;
    stories.push(story);
  }
  const { file, headerBytes } = putTogether(draft);
  if (choice.below(12) !== 0) return { file, story: stories.join(", ") };
  const [damaged, story] = damage(stories.length > 1 ? file : putTogether(whole).file, headerBytes, choice);
  return { file: damaged, story };
}

function withEntry(draft: Draft, index: number, ...entries: readonly DraftEntry[]): Draft {
  return { ...draft, entries: draft.entries.toSpliced(index, 1, ...entries) };
}

function withTensor(draft: Draft, index: number, ...tensors: readonly DraftTensor[]): Draft {
  return { ...draft, tensors: draft.tensors.toSpliced(index, 1, ...tensors) };
}

/** A random entry of the requested kind, or any entry if there is none. */
function pickEntry(draft: Draft, choice: Choice, wants: (value: DraftValue) => boolean): number {
  const indices = [...draft.entries.keys()].filter((index) => wants(entryAt(draft, index).value));
  return indices.length === 0 ? choice.below(draft.entries.length) : choice.of(indices);
}

function entryAt(draft: Draft, index: number): DraftEntry & { value: DraftValue } {
  const entry = draft.entries[index];
  if (entry === undefined) throw new Error(`There is no entry ${index}.`);
  return { ...entry, value: decodeValue(entry.bytes) };
}

function tensorAt(draft: Draft, index: number): DraftTensor {
  const tensor = draft.tensors[index];
  if (tensor === undefined) throw new Error(`There is no tensor ${index}.`);
  return tensor;
}

const changeValue: Mutation = (draft, choice) => {
  const index = pickEntry(draft, choice, ({ type }) => type !== arrayType && type !== stringType);
  const { key, value } = entryAt(draft, index);
  const items = value.items.map((item) => oddItem(value.type, choice, item));
  const shown = items.map((item) => item.toString("hex").slice(0, 32)).join(" ");
  const bytes = encodeValue({ ...value, items });
  return [withEntry(draft, index, { key, bytes }), `${key} = ${value.type}:${shown}`];
};

const changeType: Mutation = (draft, choice) => {
  const index = pickEntry(draft, choice, ({ type }) => type !== arrayType);
  const { key, value } = entryAt(draft, index);
  const type = choice.of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  const [item = Buffer.alloc(0)] = value.items;
  const sized = (itemType: number): Buffer =>
    itemType === stringType ? item : Buffer.concat([item, Buffer.alloc(8)]).subarray(0, valueBytes(itemType));
  const itemType = choice.of([0, 4, 5, 6, 7, 8, 10]);
  const changed =
    type === arrayType
      ? { type, itemType, items: Array.from({ length: choice.below(5) }, () => sized(itemType)) }
      : { type, items: [sized(type)] };
  return [withEntry(draft, index, { key, bytes: encodeValue(changed) }), `${key} as type ${type}`];
};

const dropEntry: Mutation = (draft, choice) => {
  const index = choice.below(draft.entries.length);
  return [withEntry(draft, index), `without ${entryAt(draft, index).key}`];
};

const renameEntry: Mutation = (draft, choice) => {
  const index = choice.below(draft.entries.length);
  const { key, bytes } = entryAt(draft, index);
  const other = choice.of([...draft.entries.map((entry) => entry.key), `${key}x`, ""]);
  const entries =
    choice.below(2) === 0
      ? [{ key: other, bytes }]
      : [
          { key, bytes },
          { key: other, bytes },
        ];
  return [withEntry(draft, index, ...entries), `${key} renamed to ${other}`];
};

const changeArray: Mutation = (draft, choice) => {
  const index = pickEntry(draft, choice, ({ type }) => type === arrayType);
  const { key, value } = entryAt(draft, index);
  const { items } = value;
  const length = choice.of([0, 1, items.length >> 1, items.length - 1, items.length + 1, items.length * 2]);
  const resized = Array.from(
    { length: Math.max(length, 0) },
    (_, at) => items[at % items.length] ?? Buffer.alloc(8),
  );
  return [
    withEntry(draft, index, { key, bytes: encodeValue({ ...value, items: resized }) }),
    `${key} of ${length} items`,
  ];
};

const changeItem: Mutation = (draft, choice) => {
  const index = pickEntry(draft, choice, ({ type }) => type === arrayType);
  const { key, value } = entryAt(draft, index);
  const { items, itemType = 0 } = value;
  if (items.length === 0) return [draft, "nothing"];
  const isAll = choice.below(8) === 0;
  const at = choice.below(items.length);
  const odd = choice.below(4) === 0 ? (items[choice.below(items.length)] ?? Buffer.alloc(0)) : undefined;
  const changed = items.map((item, place) =>
    isAll || place === at ? (odd ?? oddItem(itemType, choice, item)) : item,
  );
  const story = `${key}: item ${isAll ? "each" : at} changed`;
  return [withEntry(draft, index, { key, bytes: encodeValue({ ...value, items: changed }) }), story];
};

function textEntry(key: string, text: string): DraftEntry {
  return { key, bytes: encodeValue({ type: stringType, items: [Buffer.from(text, "latin1")] }) };
}

const changeText: Mutation = (draft, choice) => {
  const index = pickEntry(draft, choice, ({ type }) => type === stringType);
  const { key } = entryAt(draft, index);
  const known: Record<string, readonly string[]> = {
    "general.architecture": architectures,
    "tokenizer.ggml.model": tokenizerModels,
    "tokenizer.ggml.pre": pretokenizers,
  };
  const text = choice.of([...(known[key] ?? []), ...oddTexts]);
  const changed = withEntry(draft, index, textEntry(key, text));
  const story = `${key} = ${text.slice(0, 30)}`;
  if (key !== "general.architecture" || choice.below(4) === 0) return [changed, story];
  // The names of its keys begin with the architecture's name.
  const before = entryAt(draft, index).value.items[0]?.toString() ?? "";
  const entries = changed.entries.map(({ key: own, bytes }) => {
    const isOwn = own.startsWith(`${before}.`);
    return { key: isOwn ? `${text}${own.slice(before.length)}` : own, bytes };
  });
  return [{ ...changed, entries }, `${story} with its keys`];
};

const addEntry: Mutation = (draft, choice) => {
  const architecture = draft.entries.find(({ key }) => key === "general.architecture");
  const prefix = architecture === undefined ? "" : decodeValue(architecture.bytes).items.join("");
  const { key, type } = choice.of(addableKeys);
  const name = key.replace("%s", prefix);
  const rest = draft.entries.filter((entry) => entry.key !== name);
  const one = (ofType: number): Buffer =>
    ofType === stringType ? oddText(choice) : oddNumber(ofType, choice, Buffer.alloc(valueBytes(ofType)));
  const isArray = choice.below(5) === 0;
  const value = isArray
    ? {
        type: arrayType,
        itemType: type,
        items: Array.from({ length: choice.of([0, 1, 2, 3, 4, 5, 600]) }, () => one(type)),
      }
    : { type, items: [one(type)] };
  const bytes = encodeValue(value);
  const story = `with ${name} = ${isArray ? "array " : ""}${bytes.toString("hex").slice(0, 40)}`;
  return [{ ...draft, entries: [...rest, { key: name, bytes }] }, story];
};

/** Data of the tensor's new size, made by repeating its old data; none if the size is too large for a test. */
function dataFor(type: number, shape: readonly bigint[], data: Buffer): Buffer | undefined {
  const kind = tensorTypes.get(type);
  const elements = Number(shape.reduce((product, size) => product * size, 1n));
  const bytes = kind === undefined ? data.length : Math.ceil(elements / kind.blockElements) * kind.blockBytes;
  if (bytes > 2 ** 22) return undefined;
  return Buffer.alloc(bytes, data.length === 0 ? Buffer.alloc(1) : data);
}

function reshaped(tensor: DraftTensor, change: Partial<Pick<DraftTensor, "shape" | "type">>): DraftTensor {
  const { shape, type } = { ...tensor, ...change };
  return { ...tensor, shape, type, data: dataFor(type, shape, tensor.data) ?? tensor.data };
}

const retypeTensor: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  const tensor = tensorAt(draft, index);
  const type = choice.of([...tensorTypes.keys(), 4, 31, 43, 255]);
  return [withTensor(draft, index, reshaped(tensor, { type })), `${tensor.name} of type ${type}`];
};

const reshapeTensor: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  const tensor = tensorAt(draft, index);
  const { shape } = tensor;
  const side = choice.below(shape.length);
  const size = shape[side] ?? 1n;
  const sizes = [
    0n,
    1n,
    size + 1n,
    size - 1n,
    size * 2n,
    size / 2n,
    2n ** 31n,
    2n ** 63n,
    2n ** 64n - 1n,
    2n ** 32n / size,
  ];
  const shapes = [
    shape.with(side, choice.of(sizes)),
    shape.with(side, choice.of(sizes)),
    shape.toReversed(),
    [...shape, 1n],
    [...shape, 2n],
    shape.slice(1),
    [shape.reduce((product, one) => product * one, 1n)],
    Array.from({ length: 5 }, () => 1n),
  ];
  const changed = choice.of(shapes);
  return [
    withTensor(draft, index, reshaped(tensor, { shape: changed })),
    `${tensor.name} of ${changed.join(" x ")}`,
  ];
};

const swapTensors: Mutation = (draft, choice) => {
  const [one, other] = [choice.below(draft.tensors.length), choice.below(draft.tensors.length)];
  const [first, second] = [tensorAt(draft, one), tensorAt(draft, other)];
  const swapped = withTensor(withTensor(draft, one, { ...first, name: second.name }), other, {
    ...second,
    name: first.name,
  });
  return [swapped, `${first.name} and ${second.name} swapped`];
};

const dropTensor: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  return [withTensor(draft, index), `without ${tensorAt(draft, index).name}`];
};

/** May also rename to tensors that an architecture can have but this file does not. */
const renameTensor: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  const tensor = tensorAt(draft, index);
  const isKept = choice.below(3) > 0;
  const name = choice.of([...addableTensors, ...addableTensors, `${tensor.name}x`, tensor.name, ""]);
  const others = isKept ? [tensor, { ...tensor, name }] : [{ ...tensor, name }];
  return [
    withTensor(draft, index, ...others),
    `${tensor.name} ${isKept ? "again as" : "renamed to"} ${name}`,
  ];
};

const moveTensor: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  const tensor = tensorAt(draft, index);
  const offset = choice.of([0n, 1n, 31n, 32n, 4096n, 2n ** 31n, 2n ** 63n, 2n ** 64n - 32n]);
  return [withTensor(draft, index, { ...tensor, offset }), `${tensor.name} at ${offset}`];
};

const changeData: Mutation = (draft, choice) => {
  const index = choice.below(draft.tensors.length);
  const tensor = tensorAt(draft, index);
  const byte = choice.of([0x00, 0xff, 0x7f, 0x80, 0x55]);
  const data = Buffer.alloc(tensor.data.length, byte);
  return [withTensor(draft, index, { ...tensor, data }), `${tensor.name} filled with ${byte}`];
};

const changeCounts: Mutation = (draft, choice) => {
  const near = choice.of([-1n, 1n, 5n, 2n ** 20n, 2n ** 63n]);
  const isTensors = choice.below(2) === 0;
  const count = BigInt(isTensors ? draft.tensors.length : draft.entries.length) + near;
  return [
    { ...draft, [isTensors ? "tensorCount" : "entryCount"]: count },
    `${count} ${isTensors ? "tensors" : "entries"}`,
  ];
};

/** How often each mutation is chosen. */
const weighted: Mutation[] = (
  [
    [changeValue, 6],
    [changeType, 2],
    [dropEntry, 3],
    [renameEntry, 1],
    [changeArray, 2],
    [changeItem, 3],
    [changeText, 3],
    [addEntry, 5],
    [retypeTensor, 5],
    [reshapeTensor, 4],
    [swapTensors, 1],
    [dropTensor, 2],
    [renameTensor, 2],
    [moveTensor, 1],
    [changeData, 2],
    [changeCounts, 1],
  ] satisfies [Mutation, number][]
).flatMap(([mutation, times]) => Array.from({ length: times }, () => mutation));

/** Truncates a file or flips its bytes, mostly in the header. */
function damage(file: Buffer, headerBytes: number, choice: Choice): [Buffer, string] {
  if (choice.below(3) === 0) {
    const length = choice.below(choice.below(2) === 0 ? headerBytes : file.length);
    return [file.subarray(0, length), `cut to ${length} bytes`];
  }
  const damaged = Buffer.from(file);
  const count = 1 + choice.below(8);
  for (let i = 0; i < count; i++) {
    const at = choice.below(Math.min(file.length, headerBytes));
    damaged[at] = choice.below(256);
  }
  return [damaged, `${count} bytes of its header turned`];
}
