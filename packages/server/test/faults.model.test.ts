// A thousand requests, most of them faulty in some way: afterwards nothing of them is left in the engine, in sockets or in memory,
// and the next one gets the same response as the first.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "@ingle/fixtures";
import { expect, it } from "vitest";
import { chatText, exchange, open, requestText } from "./raw-http.ts";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const seed = 20_261_120;
/** Twice as many as can run at once, so that some wait and some are refused. */
const concurrency = 16;

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Target {
  server: RealServer;
  port: number;
  random: () => number;
}

const prompt = ({ random }: Target): string => "why ".repeat(1 + Math.floor(random() * 40));

/** Ways in which a request can succeed or fail. Each ends by itself. */
const ways: readonly ((target: Target) => Promise<unknown>)[] = [
  async (target) => (await target.server.post({ messages: user(prompt(target)), max_tokens: 5 })).text(),
  async (target) =>
    (await target.server.post({ messages: user(prompt(target)), max_tokens: 5, stream: true })).text(),
  async (target) => {
    const signal = AbortSignal.timeout(Math.floor(target.random() * 60));
    const body = { messages: user(prompt(target)), max_tokens: 100, stream: target.random() < 0.5 };
    return (await target.server.post(body, signal)).text();
  },
  async ({ server, random }) => (await server.post({ messages: random() < 0.5 ? [] : "Hi" })).text(),
  async ({ port, random }) => {
    const text = chatText({ model: modelId, messages: user("Hi") });
    const socket = await open(port);
    socket.on("error", () => {});
    socket.write(text.slice(0, Math.floor(random() * text.length)));
    socket.destroy();
  },
  async (target) => {
    const socket = await open(target.port);
    socket.on("error", () => {});
    socket.pause(); // never reads
    socket.write(chatText({ model: modelId, messages: user(prompt(target)), max_tokens: 100, stream: true }));
    await new Promise((resolve) => setTimeout(resolve, target.random() * 60));
    socket.destroy();
  },
  async ({ port }) => exchange(port, requestText("GET /v1/models", ["Host: evil.com"])),
  async ({ port }) => exchange(port, "noise\r\n\r\n"),
];

async function storm(target: Target, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const way = ways[Math.floor(target.random() * ways.length)];
      await Promise.allSettled([way?.(target)]);
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
  const target = { server, port, random: randomNumbers(seed) };
  const ask = async (): Promise<string> => {
    const reply = await server.post({ messages: user("Still there?"), temperature: 0, max_tokens: 20 });
    const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] };
    return choices[0]?.message.content ?? "";
  };
  const before = await ask();

  await storm(target, 300); // after this, caches, pools and compiled code have their final size
  await until(() => server.model.stats().running + server.model.stats().waiting === 0);
  const heapBefore = heapUsed();
  await storm(target, 1_000);

  await until(() => server.model.stats().running + server.model.stats().waiting === 0);
  expect(server.model.stats().cellsUsed).toBe(0);
  expect(await ask()).toBe(before);
  // Only what fetch keeps alive for its next request, at both ends of each connection.
  await until(() => sockets() <= 2 * concurrency + 2);
  expect(heapUsed() - heapBefore).toBeLessThan(4 * 1024 * 1024);
});
