// The stream of KV-cache events as a router reads it from the socket. The model behind it is the test's own, and says what it can
// reuse as the engine does.
import type { KvBlockMedium, KvBlockReport } from "@ingle/engine";
import { afterEach, describe, expect, test } from "vitest";
import { readMessagePack } from "../../test/harness/msgpack.ts";
import { ZmtpClient } from "../../test/harness/zmtp-client.ts";
import { KvEventPublisher, type KvEventOptions, type ReportingModel } from "./publisher.ts";

const loopback = { host: "127.0.0.1", port: 0 };
const none = { device: new BigUint64Array(), host: new BigUint64Array() };

const open: AsyncDisposable[] = [];
const clients: Disposable[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client[Symbol.dispose]();
  for (const publisher of open.splice(0)) await publisher[Symbol.asyncDispose]();
});

async function openPublisher(options: Partial<KvEventOptions> = {}): Promise<KvEventPublisher> {
  const publisher = await KvEventPublisher.open({ pod: "10.0.0.1:8000", publish: loopback, ...options });
  open.push(publisher);
  return publisher;
}

async function connected(
  port: number,
  options: Parameters<typeof ZmtpClient.connect>[1],
): Promise<ZmtpClient> {
  const client = await ZmtpClient.connect(port, options);
  clients.push(client);
  return client;
}

async function subscriber({ port }: KvEventPublisher, topic = "kv@", minor: 0 | 1 = 1): Promise<ZmtpClient> {
  const client = await connected(port, { type: "SUB", minor });
  client.subscribe(topic);
  return client;
}

/** A model whose blocks are what the test says. */
class Blocks implements ReportingModel {
  readonly info = { reportsKvBlocks: true };
  restatements = 0;
  #onReport: (report: KvBlockReport) => void = () => {};

  followKvBlocks(onReport: (report: KvBlockReport) => void): ReturnType<ReportingModel["followKvBlocks"]> {
    this.#onReport = onReport;
    return { restate: () => (this.restatements += 1), [Symbol.dispose]: () => {} };
  }

  tell(report: Partial<KvBlockReport>): void {
    this.#onReport({ isRestated: false, removed: none, stored: [], ...report });
  }
}

function stored(
  hashes: bigint[],
  { parent = 0n, medium = "device" }: { parent?: bigint; medium?: KvBlockMedium } = {},
): KvBlockReport["stored"][number] {
  const tokens = Int32Array.from({ length: 64 * hashes.length }, (_, i) => i * 1000);
  return { medium, parent, hashes: BigUint64Array.from(hashes), tokens };
}

interface Published {
  topic: string;
  sequence: bigint;
  events: unknown[];
}

function published(frames: Buffer[]): Published {
  expect(frames).toHaveLength(3);
  const [topic, sequence, payload] = frames as [Buffer, Buffer, Buffer];
  expect(sequence).toHaveLength(8);
  const batch = readMessagePack(payload) as [number, unknown[]];
  expect(batch).toHaveLength(2);
  expect(batch[0]).toBeCloseTo(Date.now() / 1000, -2);
  return { topic: topic.toString(), sequence: sequence.readBigUInt64BE(), events: batch[1] };
}

async function next(client: ZmtpClient): Promise<Published> {
  return published(await client.message());
}

describe("a subscriber", () => {
  for (const minor of [0, 1] as const) {
    test(`that speaks ZMTP 3.${minor} gets frames and events as routers read them`, async () => {
      const publisher = await openPublisher();
      const model = new Blocks();
      publisher.loaded("some/model", model);
      const client = await subscriber(publisher, "kv@", minor);
      const topic = "kv@10.0.0.1:8000@some/model";
      expect(await next(client)).toEqual({ topic, sequence: 0n, events: [["AllBlocksCleared"]] });
      model.tell({ isRestated: true, stored: [stored([5n, 2n ** 64n - 1n])] });
      const { sequence, events } = await next(client);
      expect(sequence).toBe(1n);
      const tokens = Array.from({ length: 128 }, (_, i) => i * 1000);
      expect(events).toEqual([["BlockStored", [5n, 2n ** 64n - 1n], null, tokens, 64, null, "gpu"]]);
      const removed = { device: BigUint64Array.of(5n), host: BigUint64Array.of(7n) };
      model.tell({ removed, stored: [stored([9n], { parent: 5n, medium: "host" })] });
      const more = await next(client);
      expect(more.events).toEqual([
        ["BlockRemoved", [5n], "gpu"],
        ["BlockRemoved", [7n], "cpu"],
        ["BlockStored", [9n], 5n, tokens.slice(0, 64), 64, null, "cpu"],
      ]);
    });
  }

  test("that comes later gets everything from the beginning, then what follows", async () => {
    const publisher = await openPublisher();
    const model = new Blocks();
    publisher.loaded("m", model);
    model.tell({ isRestated: true, stored: [stored([1n])] });
    model.tell({ stored: [stored([2n], { parent: 1n })] });
    const client = await subscriber(publisher);
    const all = [await next(client), await next(client), await next(client)];
    expect(all.map(({ sequence }) => sequence)).toEqual([0n, 1n, 2n]);
    model.tell({ stored: [stored([3n], { parent: 2n })] });
    expect((await next(client)).sequence).toBe(3n);
  });

  test("gets only the topics that it asked for, and none that it has cancelled", async () => {
    const publisher = await openPublisher();
    const [one, two] = [new Blocks(), new Blocks()];
    publisher.loaded("one", one);
    publisher.loaded("two", two);
    const client = await subscriber(publisher, "kv@10.0.0.1:8000@two");
    one.tell({ isRestated: true, stored: [stored([1n])] });
    two.tell({ isRestated: true, stored: [stored([2n])] });
    expect((await next(client)).topic).toBe("kv@10.0.0.1:8000@two");
    client.unsubscribe("kv@10.0.0.1:8000@two");
    client.sendCommand("PING", Buffer.from([0, 10, 1, 2, 3]));
    expect(await client.command()).toEqual({ name: "PONG", data: Buffer.from([1, 2, 3]) });
    two.tell({ stored: [stored([3n], { parent: 2n })] });
    client.subscribe("kv@10.0.0.1:8000@one");
    expect((await next(client)).topic).toBe("kv@10.0.0.1:8000@one");
  });

  test("that does not read is disconnected, and the others go on", async () => {
    const publisher = await openPublisher({ unsentMax: 1_000_000, logBytesMax: 2_000_000 });
    const model = new Blocks();
    publisher.loaded("m", model);
    model.tell({ isRestated: true });
    const [stuck, reader] = [await subscriber(publisher), await subscriber(publisher)];
    await next(stuck);
    await next(reader);
    stuck.socket.pause();
    const closed = new Promise((resolve) => stuck.socket.once("close", resolve));
    const many = BigUint64Array.from({ length: 1024 }, (_, i) => BigInt(i + 1));
    const tokens = new Int32Array(64 * 1024).fill(70_000);
    // 340 kB each, 40 MB in all: far more than may be unsent and what sockets hold.
    for (let i = 0; i < 120; ++i) {
      const isRestated = model.restatements > 0;
      model.restatements = 0;
      model.tell({
        isRestated,
        removed: { ...none, device: many },
        stored: [{ ...stored([]), hashes: many, tokens }],
      });
      while ((await next(reader)).events.length < 2); // past what begins a stream anew
    }
    stuck.socket.resume();
    await closed;
    expect(publisher.subscribers).toBe(1);
    model.tell({ isRestated: true, stored: [stored([8_000n])] });
    while (!JSON.stringify((await next(reader)).events, (_, value) => String(value)).includes("8000"));
  });
});

describe("a stream begins anew", () => {
  test("when its log is long: AllBlocksCleared is number 0, and what changed before everything was told is left out", async () => {
    const publisher = await openPublisher({ logBytesMax: 4000 });
    const model = new Blocks();
    publisher.loaded("m", model);
    const client = await subscriber(publisher);
    model.tell({ isRestated: true, stored: [stored([1n])] });
    let last = await next(client);
    for (let hash = 1n; model.restatements === 0; ++hash) {
      model.tell({ removed: { ...none, device: BigUint64Array.of(hash) }, stored: [stored([hash + 1n])] });
      last = await next(client);
    }
    while (last.sequence !== 0n) last = await next(client);
    expect(last.events).toEqual([["AllBlocksCleared"]]);
    model.tell({ stored: [stored([500n])] });
    model.tell({ isRestated: true, stored: [stored([600n])] });
    const { sequence, events } = await next(client);
    expect(sequence).toBe(1n);
    expect(events).toEqual([expect.arrayContaining(["BlockStored", [600n]])]);
    const late = await subscriber(publisher);
    expect((await next(late)).sequence).toBe(0n);
    expect((await next(late)).sequence).toBe(1n);
  });

  test("when a model goes, and the others tell everything again", async () => {
    const publisher = await openPublisher();
    const [one, two] = [new Blocks(), new Blocks()];
    publisher.loaded("one", one);
    publisher.loaded("two", two);
    for (const model of [one, two]) model.tell({ isRestated: true, stored: [stored([1n])] });
    const client = await subscriber(publisher);
    for (let i = 0; i < 3; ++i) await next(client);
    publisher.freed("one");
    expect([one.restatements, two.restatements]).toEqual([0, 1]);
    const cleared = [await next(client), await next(client)];
    expect(cleared.map(({ topic }) => topic.split("@")[2])).toEqual(["one", "two"]);
    expect(cleared.map(({ events }) => events)).toEqual([[["AllBlocksCleared"]], [["AllBlocksCleared"]]]);
  });

  test("when a model tells everything without being asked", async () => {
    const publisher = await openPublisher();
    const model = new Blocks();
    publisher.loaded("m", model);
    model.tell({ isRestated: true, stored: [stored([1n])] });
    const client = await subscriber(publisher);
    await next(client);
    await next(client);
    model.tell({ isRestated: true, stored: [stored([2n])] });
    expect((await next(client)).events).toEqual([["AllBlocksCleared"]]);
    expect((await next(client)).sequence).toBe(1n);
  });
});

describe("replay", () => {
  test("answers from a number on, with the topic, and ends with -1", async () => {
    const publisher = await openPublisher({ replay: loopback });
    const model = new Blocks();
    publisher.loaded("m", model);
    model.tell({ isRestated: true, stored: [stored([1n])] });
    model.tell({ stored: [stored([2n], { parent: 1n })] });
    for (const type of ["DEALER", "REQ"] as const) {
      const client = await connected(publisher.replayPort ?? 0, { type });
      client.send([Buffer.alloc(0), Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]);
      const responses: Published[] = [];
      for (;;) {
        const [delimiter, ...frames] = await client.message();
        expect(delimiter).toHaveLength(0);
        if (frames[2]?.length === 0) {
          expect(frames).toEqual([Buffer.alloc(0), Buffer.alloc(8, 0xff), Buffer.alloc(0)]);
          break;
        }
        responses.push(published(frames));
      }
      expect(responses.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
      expect(responses[0]?.topic).toBe("kv@10.0.0.1:8000@m");
    }
  });

  test("of a number that was never published is nothing but the end", async () => {
    const publisher = await openPublisher({ replay: loopback });
    publisher.loaded("m", new Blocks());
    const client = await connected(publisher.replayPort ?? 0, { type: "DEALER" });
    client.send([Buffer.alloc(0), Buffer.alloc(8, 0xff)]);
    expect((await client.message())[2]).toEqual(Buffer.alloc(8, 0xff));
  });
});

describe("a peer is hung up on", () => {
  test("that is no subscriber, with a reason", async () => {
    const { port } = await openPublisher();
    const client = await connected(port, { type: "PUSH" });
    const { name, data } = await client.command();
    expect(`${name}: ${data.toString("latin1", 1)}`).toBe("ERROR: a PUB socket has no use for this socket");
    await expect(client.message()).rejects.toThrow(/closed/);
  });

  test("that asks for another mechanism", async () => {
    const { port } = await openPublisher();
    await expect(ZmtpClient.connect(port, { type: "SUB", mechanism: "CURVE" })).rejects.toThrow(/NULL/);
  });

  test("that announces a frame of gigabytes", async () => {
    const client = await subscriber(await openPublisher());
    client.socket.write(Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0]));
    await expect(client.message()).rejects.toThrow(/closed/);
  });
});
