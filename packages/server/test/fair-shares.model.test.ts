// The waiting queue of a busy engine, over real sockets: whose request is computed next.
import { until } from "@ingle/fixtures";
import { expect, it } from "vitest";
import { realServer, user, type RealServer } from "./real-server.ts";

/** How a request identifies its sender. */
interface Sender {
  headers?: Record<string, string>;
  body?: { user: string };
}

const keyed = (key: string): Sender => ({ headers: { authorization: `Bearer ${key}` } });
const named = (name: string): Sender => ({ body: { user: name } });

function send(server: RealServer, { headers, body }: Sender, more: object, signal?: AbortSignal) {
  return server.post({ ignore_eos: true, ...body, ...more }, signal, headers);
}

/** Keeps the engine's only slot busy until the signal aborts. */
async function occupy(server: RealServer, sender: Sender, signal: AbortSignal): Promise<void> {
  await send(server, sender, { messages: user("on and on"), stream: true }, signal);
  await until(() => server.model.stats().running === 1);
}

it.each([
  ["keys", [keyed("key-a"), keyed("key-b")], ["key-a", "key-b"]],
  ["users", [named("ann"), named("bob")], []],
] as const)(
  "twenty requests of one of two %s do not delay the other's only one",
  async (_, senders, apiKey) => {
    await using server = await realServer({
      load: { contextLength: 2048, parallel: 1 },
      flags: { apiKey: [...apiKey] },
    });
    const [many, single] = senders;
    const { model } = server;
    const occupation = new AbortController();
    await occupy(server, many, occupation.signal);

    const served: string[] = [];
    const ask = async (sender: Sender, name: string): Promise<void> => {
      const response = await send(server, sender, { messages: user(name), max_tokens: 8 });
      expect(response.status).toBe(200);
      await response.text();
      served.push(name);
    };
    const crowd = Array.from({ length: 20 }, () => ask(many, "many"));
    await until(() => model.stats().waiting === 20);
    const last = ask(single, "single");
    await until(() => model.stats().waiting === 21);
    const { generatedTokens } = model.stats();
    await until(() => model.stats().generatedTokens > generatedTokens); // from here on, `many` has used more
    occupation.abort();
    await Promise.all([...crowd, last]);

    expect(served).toHaveLength(21);
    // The engine computes it first; its response may cross with the next one's on the way.
    expect(served.indexOf("single")).toBeLessThan(3);
  },
);
