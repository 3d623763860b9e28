// A model over workers on the loopback interface: its texts, which peers are accepted, and what happens when a worker is lost.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import {
  EngineError,
  fitModel,
  hostMemory,
  load,
  makeWorkerKey,
  parseWorkerKey,
  saveWorkerKey,
  workerDevices,
  WorkerHost,
  type LoadedModel,
  type WorkerEvent,
} from "@ingle/engine";
import { exactArithmetic, tinyModel, until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "./tiny.ts";

const mebibyte = 1024 ** 2;
const key = makeWorkerKey();
/** Short enough for tests, long enough for a busy machine. */
const options = { threads: 1, contextLength: 512, parallel: 2, ...exactArithmetic };
let folder = "";
let keyFile = "";
let model = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-workers-"));
  keyFile = path.join(folder, "worker.key");
  await saveWorkerKey(keyFile, key);
  model = await tinyModel({ weights: "f32" });
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

interface TestWorker extends AsyncDisposable {
  host: WorkerHost;
  address: string;
  events: WorkerEvent[];
}

async function startWorker({ port = 0, text = key, bytesMax = 256 * mebibyte } = {}): Promise<TestWorker> {
  const events: WorkerEvent[] = [];
  const host = await WorkerHost.start({
    key: parseWorkerKey(text),
    host: "127.0.0.1",
    port,
    threads: 1,
    devices: ["CPU"],
    bytesMax,
    onEvent: (event) => events.push(event),
  });
  const address = `127.0.0.1:${host.port}`;
  return { host, address, events, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

const rpc = (...workers: TestWorker[]) => ({ workers: workers.map(({ address }) => address), keyFile });
const code = (expected: string) => expect.objectContaining({ code: expected });

async function generateText({ model: loaded }: LoadedModel, prompt: string, maxTokens = 40): Promise<string> {
  return (await loaded.generate({ prompt, maxTokens, temperature: 0 })).text;
}

/** Kills the computing processes of this process's workers, as a failed assertion would. */
function killComputing(): void {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  for (const line of lines) {
    const [pid = "", parent = ""] = line.trim().split(/\s+/);
    if (Number(parent) === process.pid && line.includes("worker-child")) process.kill(Number(pid), "SIGKILL");
  }
}

/** Sends `bytes` and returns everything that is received until the connection closes. */
async function heard(socket: Socket, bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {}); // the connection may be closed while writing
  socket.write(bytes);
  await within(20_000, once(socket, "close"));
  return Buffer.concat(chunks);
}

describe("a model over two workers", () => {
  it(
    "generates the same greedy texts as in one process, and uses both workers",
    { timeout: 60_000 },
    async () => {
      await using first = await startWorker();
      await using second = await startWorker();
      const prompts = ["Once upon a time", "river copper seven lantern", "A"];
      await using alone = await load(model, options);
      const expected = await Promise.all(prompts.map((prompt) => generateText(alone, prompt)));

      const devices = await workerDevices(rpc(first, second));
      const { footprint } = await fitModel(
        model,
        { ...options, rpc: rpc(first, second) },
        { budget: { byMemory: {} } },
      );
      for (const { name } of devices) expect(footprint.byMemory[name]).toBeGreaterThan(0);
      await using spread = await load(model, { ...options, rpc: rpc(first, second) });
      expect(await Promise.all(prompts.map((prompt) => generateText(spread, prompt)))).toEqual(expected);
      // The computed state stays on the workers and is reused.
      expect(await generateText(spread, prompts[0] ?? "")).toBe(expected[0]);
      const left = await workerDevices(rpc(first, second));
      for (const [index, { memoryFree }] of left.entries())
        expect(memoryFree).toBeLessThan(devices[index]?.memoryFree ?? 0);
    },
  );

  it("shares one connection between two models of a process", { timeout: 60_000 }, async () => {
    await using worker = await startWorker();
    await using one = await load(model, { ...options, rpc: rpc(worker) });
    await using other = await load(model, { ...options, rpc: rpc(worker) });
    const prompt = "quiet harbour signal";
    const texts = await Promise.all([
      generateText(one, prompt),
      generateText(other, prompt),
      generateText(one, prompt),
    ]);
    expect(new Set(texts).size).toBe(1);
    // The worker drops its graphs with each freed buffer; the remaining model must not be affected.
    await other[Symbol.asyncDispose]();
    expect(await generateText(one, prompt)).toBe(texts[0]);
    expect(worker.events.filter(({ kind }) => kind === "connected")).toHaveLength(1);
  });

  it("takes no memory of a worker without layers for it", { timeout: 60_000 }, async () => {
    await using worker = await startWorker({ bytesMax: mebibyte });
    const without = { ...options, rpc: rpc(worker), gpuLayers: 0 };
    const { footprint } = await fitModel(model, without, { budget: { byMemory: {} } });
    expect(Object.keys(footprint.byMemory)).toEqual([hostMemory]);
    await using loaded = await load(model, without);
    expect(await generateText(loaded, "word ".repeat(300), 4)).not.toBe("");
  });

  it("cannot use more memory than a worker offers", async () => {
    await using worker = await startWorker({ bytesMax: mebibyte });
    const budget = {
      byMemory: Object.fromEntries(
        (await workerDevices(rpc(worker))).map((device) => [device.name, device.memoryTotal]),
      ),
    };
    const { options: fitted } = await fitModel(model, { ...options, rpc: rpc(worker) }, { budget });
    expect(fitted.gpuLayers).toBeDefined(); // the other layers stay on this machine
    await expect(load(model, { ...options, rpc: rpc(worker), gpuLayers: 99 })).rejects.toThrow(
      /alloc|memory/i,
    );
  });
});

describe("a worker rejects", () => {
  it("peers without TLS, without a key, or with another key", { timeout: 60_000 }, async () => {
    await using worker = await startWorker();
    const { port } = worker.host;
    // The first bytes of a client of ggml's rpc-server.
    const hello = Buffer.concat([Buffer.from([14, 24, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(24)]);
    const plain = await heard(connect(port, "127.0.0.1"), hello);
    expect(plain.length).toBeLessThan(64); // at most a TLS alert
    const anonymous = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    await within(20_000, once(anonymous, "error"));
    const file = path.join(folder, "other.key");
    await saveWorkerKey(file, makeWorkerKey());
    await expect(workerDevices({ workers: [worker.address], keyFile: file })).rejects.toEqual(
      code("worker_refused"),
    );
    await until(() => worker.events.length === 3);
    expect(worker.events.map(({ kind }) => kind)).toEqual(["refused", "refused", "refused"]);
    await expect(workerDevices(rpc(worker))).resolves.toHaveLength(1);
  });

  it("replayed traffic of a peer with the key", { timeout: 60_000 }, async () => {
    await using worker = await startWorker();
    const recorded: Buffer[] = [];
    const proxy = createServer((near) => {
      const far = connect(worker.host.port, "127.0.0.1");
      near.on("data", (chunk: Buffer) => recorded.push(chunk));
      near.pipe(far).pipe(near);
      for (const side of [near, far]) side.on("error", () => {}); // fails when the other side is closed
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    await workerDevices({ workers: [`127.0.0.1:${port}`], keyFile });
    proxy.close();
    const seen = worker.events.length;
    await heard(connect(worker.host.port, "127.0.0.1"), Buffer.concat(recorded));
    await until(() => worker.events.slice(seen).some(({ kind }) => kind === "refused"));
    expect(worker.events.slice(seen).filter(({ kind }) => kind === "connected")).toEqual([]);
  });

  it("a second server while it serves one", { timeout: 60_000 }, async () => {
    await using worker = await startWorker();
    await using _model = await load(model, { ...options, rpc: rpc(worker) });
    // A direct connection outside the pool, like that of another process.
    const file = path.join(folder, "same.key");
    await saveWorkerKey(file, key);
    const { connectWorker } = await import("../dist/native/workers/connect-worker.js");
    const address = { host: "127.0.0.1", port: worker.host.port };
    await expect(connectWorker({ address, key: parseWorkerKey(key) })).rejects.toThrow(
      "it is serving another server",
    );
  });
});

describe("an unavailable worker", () => {
  it(
    "is worker_unreachable if nothing listens there, or if it does not respond",
    { timeout: 60_000 },
    async () => {
      const closed = createServer().listen(0, "127.0.0.1");
      await once(closed, "listening");
      const { port } = closed.address() as AddressInfo;
      closed.close();
      const asked = workerDevices({ workers: [`127.0.0.1:${port}`], keyFile });
      await expect(asked).rejects.toEqual(code("worker_unreachable"));
      const silent = createServer(() => {}).listen(0, "127.0.0.1");
      await once(silent, "listening");
      const { port: silentPort } = silent.address() as AddressInfo;
      const unanswered = load(model, { ...options, rpc: { workers: [`127.0.0.1:${silentPort}`], keyFile } });
      await expect(unanswered).rejects.toMatchObject({ code: "worker_unreachable" });
      silent.close();
    },
  );

  it("is invalid_request without a key, or with an invalid address", async () => {
    const missing = path.join(folder, "no.key");
    await expect(workerDevices({ workers: ["127.0.0.1:1"], keyFile: missing })).rejects.toThrow(
      "ingle worker --pair",
    );
    await expect(workerDevices({ workers: ["1.2.3.4:99999"], keyFile })).rejects.toEqual(
      code("invalid_request"),
    );
  });
});

describe("a lost worker", () => {
  it(
    "fails running requests with worker_lost, and the model works after it is loaded again",
    { timeout: 90_000 },
    async () => {
      await using kept = await startWorker();
      const lost = await startWorker();
      const { port } = lost.host;
      await using spread = await load(model, { ...options, rpc: rpc(kept, lost) });
      const expected = await generateText(spread, "Once upon a time");
      const generation = spread.model.generate({
        prompt: "Once upon a time",
        maxTokens: 400,
        temperature: 0,
        ignoreEos: true,
      });
      const broken = (async () => {
        let pieces = 0;
        for await (const _chunk of generation) if (++pieces === 3) await lost[Symbol.asyncDispose]();
      })();
      await expect(within(30_000, broken)).rejects.toEqual(code("worker_lost"));
      const error = await within(5_000, spread.model.lost);
      expect(error).toBeInstanceOf(EngineError);
      expect(error.message).toContain(`127.0.0.1:${port}`);
      await expect(spread.model.generate({ prompt: "A" })).rejects.toEqual(code("worker_lost"));
      await spread[Symbol.asyncDispose]();

      await using back = await startWorker({ port });
      await using again = await load(model, { ...options, rpc: rpc(kept, back) });
      expect(await generateText(again, "Once upon a time")).toBe(expected);
    },
  );

  it("starts another process if its computing process is killed", { timeout: 90_000 }, async () => {
    await using worker = await startWorker();
    await using spread = await load(model, { ...options, rpc: rpc(worker) });
    const generation = spread.model.generate({
      prompt: "A",
      maxTokens: 400,
      temperature: 0,
      ignoreEos: true,
    });
    const broken = (async () => {
      let pieces = 0;
      for await (const _chunk of generation) if (++pieces === 3) killComputing();
    })();
    await expect(within(30_000, broken)).rejects.toEqual(code("worker_lost"));
    await spread[Symbol.asyncDispose]();
    await using again = await load(model, { ...options, rpc: rpc(worker) });
    expect((await generateText(again, "A")).length).toBeGreaterThan(0);
  });
});
