// A thousand requests, most of them wrong in some way: afterwards nothing of them is left in the engine, at the sockets or
// in memory, and the next one is answered as the first one was.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "@ingle/fixtures";
import { expect, it } from "vitest";
import { chatText, exchange, open, requestText } from "./raw-http.ts";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const seed = 20_261_120;
/** Twice as many as can be answered at once, so that some wait and some are refused. */
const concurrency = 16;

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface House {
  server: RealServer;
  port: number;
  random: () => number;
}

const prompt = ({ random }: House): string => "why ".repeat(1 + Math.floor(random() * 40));

/** Ways in which a request goes, well or not. Each ends by itself. */
const ways: readonly ((house: House) => Promise<unknown>)[] = [
  async (house) => (await house.server.post({ messages: user(prompt(house)), max_tokens: 5 })).text(),
  async (house) =>
    (await house.server.post({ messages: user(prompt(house)), max_tokens: 5, stream: true })).text(),
  async (house) => {
    const signal = AbortSignal.timeout(Math.floor(house.random() * 60));
    const body = { messages: user(prompt(house)), max_tokens: 100, stream: house.random() < 0.5 };
    return (await house.server.post(body, signal)).text();
  },
  async ({ server, random }) => (await server.post({ messages: random() < 0.5 ? [] : "Hi" })).text(),
  async ({ port, random }) => {
    const text = chatText({ model: modelId, messages: user("Hi") });
    const socket = await open(port);
    socket.on("error", () => {});
    socket.write(text.slice(0, Math.floor(random() * text.length)));
    socket.destroy();
  },
  async (house) => {
    const socket = await open(house.port);
    socket.on("error", () => {});
    socket.pause(); // never reads
    socket.write(chatText({ model: modelId, messages: user(prompt(house)), max_tokens: 100, stream: true }));
    await new Promise((resolve) => setTimeout(resolve, house.random() * 60));
    socket.destroy();
  },
  async ({ port }) => exchange(port, requestText("GET /v1/models", ["Host: evil.com"])),
  async ({ port }) => exchange(port, "noise\r\n\r\n"),
];

async function storm(house: House, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const way = ways[Math.floor(house.random() * ways.length)];
      await Promise.allSettled([way?.(house)]);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

const sockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

it(`leaves nothing behind (seed ${seed})`, async () => {
  await using server = await realServer({
    load: { contextLength: 256, parallel: 4 },
    flags: { waitingMax: 8, stalledReaderTimeout: "500ms", headersTimeout: "500ms" },
  });
  const port = Number(new URL(server.baseUrl).port);
  const house = { server, port, random: randomNumbers(seed) };
  const ask = async (): Promise<string> => {
    const reply = await server.post({ messages: user("Still there?"), temperature: 0, max_tokens: 20 });
    const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] };
    return choices[0]?.message.content ?? "";
  };
  const before = await ask();

  await storm(house, 300); // caches, pools and compiled code have their size by then
  await until(() => server.model.stats().running + server.model.stats().waiting === 0);
  const heapBefore = heapUsed();
  await storm(house, 1_000);

  await until(() => server.model.stats().running + server.model.stats().waiting === 0);
  expect(server.model.stats().cellsUsed).toBe(0);
  expect(await ask()).toBe(before);
  // Only what fetch keeps alive for its next request, at both ends of each.
  await until(() => sockets() <= 2 * concurrency + 2);
  expect(heapUsed() - heapBefore).toBeLessThan(4 * 1024 * 1024);
});
