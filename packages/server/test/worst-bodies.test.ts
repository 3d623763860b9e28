// No body blocks the event loop for more than 50 milliseconds, so no request delays the others.
//
// The limit is on the time that the server's thread computes without a pause on an idle machine. Tests share their cores, so the
// test measures the thread's own processor time, and scales the limit with how much slower a fixed piece of work currently is. Another
// thread makes and sends the bodies.
import { textLengthMax } from "@ingle/protocol";
import { numbersMax, valuesMax } from "@ingle/protocol/json-shape";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedId, scriptedServer } from "./harness/scripted-server.ts";
import {
  findItems,
  smallestValue,
  longestBlock,
  memoryMs,
  walkPlaces,
  sendingThread,
  slowness,
  worstValues,
  type Components,
  type Part,
  type Place,
} from "./worst-bodies.ts";

/** The goal, in milliseconds. */
const blockMsMax = 50;
/** All values in all places take an hour; the suite tries one kind of value in each fifth place, most of them smaller. */
const isThorough = process.env["INGLE_WORST_BODIES"] === "all";
/** The largest body that the server accepts by default, without what surrounds the worst part. */
const bytesMax = 32 * 1024 * 1024 - 16 * 1024;
/** A body is held twice while it is read: as bytes and as text. */
const copies = 2;
const placesPerCase = 5;
const bytesInEachPlace = isThorough ? bytesMax : 4 * 1024 * 1024;
const thoroughMs = 3_600_000;

let scripted: Awaited<ReturnType<typeof scriptedServer>>;
let thread: ReturnType<typeof sendingThread>;
let document: OpenApi;

interface OpenApi {
  components: { schemas: Components };
  paths: Record<
    string,
    {
      post?: {
        requestBody?: {
          content: { "application/json": { schema: Place["schema"]; example?: Record<string, unknown> } };
        };
      };
    }
  >;
}

beforeAll(async () => {
  scripted = await scriptedServer();
  thread = sendingThread();
  document = await (await fetch(`${scripted.server.url}/openapi.json`)).json();
  // The first large body starts a thread, and the first bodies compile the code.
  for (let round = 0; round < 3; round += 1)
    await send("/v1/chat/completions", around({ model: scriptedId }, "messages", worst["short texts"] ?? []));
});

afterAll(async () => {
  await scripted[Symbol.asyncDispose]();
  await thread[Symbol.asyncDispose]();
});

const worst = worstValues(bytesInEachPlace, valuesMax, numbersMax);
const hole = "\u0001hole\u0001";

/** The body's text with the parts in place of `field`. */
function around(body: object, field: string, parts: readonly Part[]): Part[] {
  return inHole({ ...body, [field]: hole }, parts);
}

/** The body's text with the parts in each hole. */
function inHole(body: unknown, parts: readonly Part[]): Part[] {
  return JSON.stringify(body)
    .split(JSON.stringify(hole))
    .flatMap((text, index) => [...(index === 0 ? [] : parts), { text, times: 1 }]);
}

async function send(path: string, parts: readonly Part[]) {
  return thread.send(`${scripted.server.url}${path}`, parts);
}

/** A body blocks the event loop every time; another process only now and then. */
const triesMax = 5;

/** Sends a body and waits for its response, which must not be an internal error. */
async function expectNoBlock(path: string, parts: readonly Part[], what: string): Promise<void> {
  const excesses: number[] = [];
  while (excesses.length < triesMax) {
    const bound = blockMsMax * slowness();
    const blocked = await longestBlock(async () => {
      const { status, text } = await send(path, parts);
      expect([status, text], `${path} ${what}`).toEqual([
        expect.toSatisfy((code) => code >= 200 && code < 500),
        text,
      ]);
    });
    // Measured where it decides only: it takes longer than most bodies.
    if (blocked < bound || blocked < bound + memoryMs(copies * bytesMax)) return;
    excesses.push(Math.round(blocked));
  }
  expect(excesses, `${path} ${what}: milliseconds without a pause, each time`).toEqual([]);
}

const tool = { type: "function", function: { name: "f", parameters: {} } };
const chat = { model: scriptedId, messages: [{ role: "user", content: "Hi" }] };
const list = (item: string, count: number): Part[] => [
  { text: "[", times: 1 },
  { text: `${item},`, times: count },
  { text: `${item}]`, times: 1 },
];
const keys = (count: number): Part[] => [
  { text: "{", times: 1 },
  { text: '"k%":1,', times: count },
  { text: '"k":1}', times: 1 },
];
const text = (item: string, count: number): Part[] => [
  { text: '"', times: 1 },
  { text: item, times: count },
  { text: '"', times: 1 },
];

/** Three calls in earlier replies, whose arguments are JSON within a text: as many as fit, or as are read. */
const calls = 3;
const withoutEnd = (item: string): Part => ({
  text: item,
  times: Math.floor((textLengthMax - 64) / item.length),
});
const worstArguments = Object.entries<Part[]>({
  values: [withoutEnd("[],")],
  "few values": [{ text: "{},", times: Math.floor(valuesMax / calls) - 10 }],
  numbers: [withoutEnd("1,")],
  "few numbers": [{ text: "1,", times: Math.floor(numbersMax / calls) - 10 }],
  "one text": [{ text: String.raw`\"`, times: 1 }, withoutEnd("a"), { text: String.raw`\",`, times: 1 }],
  nesting: [withoutEnd("[")],
}).flatMap(([what, parts]): [what: string, path: string, parts: Part[]][] => {
  const json = [{ text: String.raw`"{\"a\":[`, times: 1 }, ...parts, { text: '1]}"', times: 1 }];
  const call = { id: "a", type: "function", function: { name: "f", arguments: hole } };
  const message = { role: "assistant", tool_calls: Array.from({ length: calls }, () => call) };
  const item = { type: "function_call", call_id: "a", name: "f", arguments: hole };
  const input = Array.from({ length: calls }, () => item);
  return [
    [
      `with calls' arguments of ${what}`,
      "/v1/chat/completions",
      inHole({ ...chat, messages: [...chat.messages, message, ...chat.messages] }, json),
    ],
    [`with items' arguments of ${what}`, "/v1/responses", inHole({ model: scriptedId, input }, json)],
  ];
});

describe("the event loop continues during a request", () => {
  it.each<[what: string, path: string, parts: Part[]]>([
    ["with ten million tools", "/v1/chat/completions", around(chat, "tools", list("1", 10_000_000))],
    [
      "with a prompt of ten million wrong items",
      "/v1/completions",
      around({ model: scriptedId }, "prompt", list("{}", 10_000_000)),
    ],
    [
      "with ten million inputs",
      "/v1/embeddings",
      around({ model: scriptedId }, "input", list("{}", 10_000_000)),
    ],
    [
      "with three million unknown keys in the parameters of a tool",
      "/v1/chat/completions",
      inHole({ ...chat, tools: [{ ...tool, function: { name: "f", parameters: hole } }] }, keys(2_400_000)),
    ],
    [
      "with three million unknown keys in a schema",
      "/v1/chat/completions",
      inHole(
        { ...chat, response_format: { type: "json_schema", json_schema: { schema: hole } } },
        keys(2_400_000),
      ),
    ],
    ["with three million unknown fields", "/v1/chat/completions", keys(2_400_000)],
    ["with nothing but arrays", "/v1/chat/completions", list("[]", 10_000_000)],
    ["with arrays in arrays", "/v1/chat/completions", around(chat, "more", worst["arrays in arrays"] ?? [])],
    [
      "with a text of 8 million letters to tokenize",
      "/v1/tokenize",
      around({ model: scriptedId }, "content", text("a", 8_388_608)),
    ],
    [
      "with a text of 24 MB to tokenize",
      "/v1/tokenize",
      around({ model: scriptedId }, "content", text("一", 8_388_608)),
    ],
    ...worstArguments,
    [
      "with a million tokens to write out",
      "/v1/detokenize",
      around({ model: scriptedId }, "tokens", list("65", 1_000_000)),
    ],
    [
      "with a prompt of a million tokens",
      "/v1/completions",
      around({ model: scriptedId }, "prompt", list("65", 1_000_000)),
    ],
    [
      "with two million numbers in a field that is ignored",
      "/v1/chat/completions",
      around(chat, "mirostat", list("-1.5", 2_000_000)),
    ],
  ])("%s", async (what, path, parts) => {
    await expectNoBlock(path, parts, what);
  });

  it("with the schemas that are the most work to assemble", async () => {
    const shared = `{${Array.from({ length: 12_000 }, (_, index) => `"k${index}":1`).join()},"type":["string"`;
    const schema: Part[] = [
      { text: shared, times: 1 },
      { text: ',"string"', times: 10_000 },
      { text: "]}", times: 1 },
    ];
    const format = { type: "json_schema", json_schema: { schema: hole } };
    await expectNoBlock(
      "/v1/chat/completions",
      inHole({ ...chat, response_format: format }, schema),
      "shared keys",
    );
  });

  it("with an error that echoes a nested value, and is not an internal one", async () => {
    const choice = { type: "function", name: "f", more: hole };
    const body = {
      model: scriptedId,
      input: "Hi",
      tools: [{ type: "function", name: "f", parameters: {} }],
      tool_choice: choice,
    };
    for (const depth of [400, 5_000, 1_000_000]) {
      const nested: Part[] = [
        { text: "[", times: depth },
        { text: "]", times: depth },
      ];
      await expectNoBlock("/v1/responses", inHole(body, nested), `nested ${depth}`);
    }
  });

  it(
    "with the worst value in every place of every schema",
    async () => {
      const seen = new Set<string>();
      const kinds = Object.entries(worst);
      let turn = 0;
      for (const [path, { post }] of Object.entries(document.paths)) {
        const content = post?.requestBody?.content["application/json"];
        if (content === undefined) continue;
        const base = { model: scriptedId, ...content.example };
        for (const place of walkPlaces(content.schema, document.components.schemas, seen)) {
          const inBody = (parts: readonly Part[]) =>
            inHole({ ...base, ...asObject(place.around(hole)) }, parts);
          turn += 1;
          if (!isThorough && turn % placesPerCase !== 0) continue;
          const kind = (turn / placesPerCase) % kinds.length;
          for (const [name, parts] of isThorough ? kinds : kinds.slice(kind, kind + 1))
            await expectNoBlock(path, inBody(parts), `${place.name}: ${name}`);
          const items = findItems(place.schema, document.components.schemas);
          if (items === undefined) continue;
          const least = JSON.stringify(smallestValue(items, document.components.schemas));
          const values = least.split(/[{[",:]+/).length;
          await expectNoBlock(
            path,
            inBody(list(least, Math.floor(valuesMax / values))),
            `${place.name}: right items`,
          );
        }
      }
      expect(turn).toBeGreaterThan(100);
    },
    isThorough ? thoroughMs : 400_000,
  );
});

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
