// The most expensive bodies that a schema allows, and how long they block the event loop.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

/** A text and how often it is repeated; `%` in a repeated text stands for its number. */
export interface Part {
  text: string;
  times: number;
}

export interface SentResponse {
  status: number;
  /** Size of the whole response in bytes; `text` is its start. */
  length: number;
  text: string;
}

/** A separate thread that makes and sends bodies. */
export function sendingThread(): {
  send: (url: string, parts: readonly Part[]) => Promise<SentResponse>;
} & AsyncDisposable {
  const worker = new Worker(new URL("sending-thread.js", import.meta.url));
  return {
    send: async (url, parts) => {
      const answered = once(worker, "message");
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
      worker.postMessage({ url, parts });
      const [response]: SentResponse[] = await answered;
      if (response === undefined) throw new Error("The sending thread answered nothing.");
      return response;
    },
    [Symbol.asyncDispose]: async () => {
      await worker.terminate();
    },
  };
}

const statistics = "/proc/thread-self/schedstat";

/**
 * Milliseconds that this thread has computed. If the system tells, this excludes time in which others had the core: other
 * tests run on the same ones.
 */
function computedMs(): number {
  if (!existsSync(statistics)) return performance.now();
  return Number(readFileSync(statistics, "utf8").split(" ", 1)[0]) / 1e6;
}

/** The longest time, in milliseconds, that this thread's event loop computed without a pause during `action`. */
export async function longestBlock(action: () => Promise<void>): Promise<number> {
  let [longest, last] = [0, computedMs()];
  const look = (): void => {
    const now = computedMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  await action();
  clearInterval(timer);
  look();
  return longest;
}

/** Duration of the work below on an idle core of the machine that the limit is meant for (Zen 4). */
const idleMs = 3.5;

/** How much slower than idle this machine currently is: cores share their caches, and hyperthreads their units. */
export function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ key: `value ${index}` })));
  const times = Array.from({ length: 9 }, () => {
    const before = computedMs();
    JSON.parse(text);
    return computedMs() - before;
  });
  const median = times.toSorted((one, other) => one - other)[4] ?? idleMs;
  return Math.max(1, median / idleMs);
}

/**
 * Milliseconds of processor time in which the system gives this thread so much new memory: a few on most machines, hundreds on some
 * virtual ones, where each new page takes fifty times as long.
 */
export function memoryMs(bytes: number): number {
  const times = Array.from({ length: 3 }, () => {
    const before = computedMs();
    Buffer.allocUnsafeSlow(bytes).fill(1);
    return computedMs() - before;
  });
  return times.toSorted((one, other) => one - other)[1] ?? 0;
}

interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
}
export type Components = Readonly<Record<string, JsonSchema>>;

/** A place in a body: the text around `hole`. */
export interface Place {
  /** Such as `messages[].content`. */
  name: string;
  schema: JsonSchema;
  around: (hole: unknown) => unknown;
}

/** Every place of a schema, each kind once: `seen` holds what several requests share after its first use. */
export function* walkPlaces(
  schema: JsonSchema,
  components: Components,
  seen: Set<string>,
  { name = "", around = (hole: unknown): unknown => hole }: Partial<Place> = {},
): Generator<Place> {
  const own = resolved(schema, components);
  for (const [field, each] of Object.entries(own.properties ?? {})) {
    const key = `${field} ${JSON.stringify(each)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const inner: Place = {
      name: `${name}.${field}`,
      schema: each,
      around: (hole) => around({ ...asObject(smallestValue(own, components)), [field]: hole }),
    };
    yield inner;
    yield* walkPlaces(each, components, seen, inner);
  }
  if (own.items !== undefined) {
    const inner: Place = { name: `${name}[]`, schema: own.items, around: (hole) => around([hole]) };
    yield* walkPlaces(own.items, components, seen, inner);
  }
  for (const each of [...(own.anyOf ?? []), ...(own.oneOf ?? [])])
    yield* walkPlaces(each, components, seen, { name, around });
}

/** The smallest value of a schema. */
export function smallestValue(schema: JsonSchema, components: Components): unknown {
  const own = resolved(schema, components);
  if (own.const !== undefined) return own.const;
  if (own.enum !== undefined) return own.enum[0];
  const [choice] = [...(own.anyOf ?? []), ...(own.oneOf ?? [])];
  if (choice !== undefined) return smallestValue(choice, components);
  const required = (own.required ?? []).map((field) => [
    field,
    smallestValue(own.properties?.[field] ?? {}, components),
  ]);
  const values: Record<string, unknown> = {
    object: Object.fromEntries(required),
    array: own.items === undefined ? [] : [smallestValue(own.items, components)],
    string: "a",
    integer: own.minimum ?? 1,
    number: own.minimum ?? 1,
    boolean: true,
  };
  return values[[own.type].flat()[0] ?? "string"] ?? null;
}

/** The items of a place that is or may be an array. */
export function findItems(schema: JsonSchema, components: Components): JsonSchema | undefined {
  const own = resolved(schema, components);
  const choices = [...(own.anyOf ?? []), ...(own.oneOf ?? [])].map((each) => findItems(each, components));
  return own.items ?? choices.find((each) => each !== undefined);
}

function resolved(schema: JsonSchema, components: Components): JsonSchema {
  const id = schema.$ref?.split("/").at(-1);
  return id === undefined ? schema : (components[id] ?? {});
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** A list or an object of as many repeated texts as fit into this many bytes, or fewer. */
function filled(open: string, item: string, close: string, bytes: number, timesMax = Infinity): Part[] {
  const digits = item.includes("%") ? 7 : 0;
  const times = Math.min(timesMax, Math.floor(bytes / (item.length + digits)));
  return [
    { text: open, times: 1 },
    { text: item, times },
    { text: close, times: 1 },
  ];
}

/** Values by what makes them expensive: as large as a body may be, or as large as one that is read may be. */
export function worstValues(bytes: number, valuesMax: number, numbersMax: number): Record<string, Part[]> {
  const pairs = Math.floor(valuesMax / 2) - 200;
  return {
    "empty arrays": filled("[", "[],", "[]]", bytes),
    "few empty arrays": filled("[", "[],", "[]]", bytes, valuesMax - 400),
    "few empty objects": filled("[", "{},", "{}]", bytes, valuesMax - 400),
    "keys without end": filled("{", '"k%":{},', '"k":1}', bytes),
    "few keys": filled("{", '"k%":{},', '"k":1}', bytes, pairs),
    "one key again and again": filled("{", '"k":1,', '"k":1}', bytes, pairs),
    numbers: filled("[", "1,", "1]", bytes),
    "few numbers": filled("[", "123456,", "1]", bytes, numbersMax - 10),
    "wrong numbers": filled("[", "-1.5,", "1]", bytes, numbersMax - 10),
    "short texts": filled("[", '"a",', '"a"]', bytes, valuesMax - 400),
    "a long text": filled('"', "a", '"', bytes),
    "a long text in other letters": filled('"', "一", '"', Math.floor(bytes / 3)),
    "a long text in escapes": filled('"', String.raw`\u4e00`, '"', bytes),
    "texts of a megabyte": filled("[", `"${"a".repeat(1024 * 1024)}",`, '"a"]', bytes),
    "arrays in arrays": filled("", "[", "", bytes),
    "few arrays in arrays": [...filled("", "[", "", bytes, 480), ...filled("", "]", "", bytes, 480)],
    "a long number": filled("1", "1", "", bytes),
    space: filled("[", " ", "]", bytes),
  };
}
