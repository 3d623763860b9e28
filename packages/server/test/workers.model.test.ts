// A server whose model is on workers: what its clients see when a worker is lost, and that the model is loaded again automatically.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeWorkerKey, parseWorkerKey, saveWorkerKey, WorkerHost } from "@ingle/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { realServer, user, type RealServer } from "./real-server.ts";

const key = makeWorkerKey();
let folder = "";
let keyFile = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-serve-workers-"));
  keyFile = path.join(folder, "worker.key");
  await saveWorkerKey(keyFile, key);
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

const startWorker = (port = 0): Promise<WorkerHost> =>
  WorkerHost.start({
    key: parseWorkerKey(key),
    host: "127.0.0.1",
    port,
    threads: 1,
    devices: ["CPU"],
    bytesMax: 256 * 1024 ** 2,
    onEvent: () => {},
  });

const serverOver = (...ports: number[]): Promise<RealServer> =>
  realServer({
    load: {
      engine: "in-process",
      contextLength: 512,
      rpc: { workers: ports.map((port) => `127.0.0.1:${port}`), keyFile },
    },
  });

/** Ends the processes that compute for this process's workers. */
function killComputing(): void {
  for (const line of execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n")) {
    const [pid = "", parent = ""] = line.trim().split(/\s+/);
    if (Number(parent) === process.pid && line.includes("worker-child")) process.kill(Number(pid), "SIGKILL");
  }
}

const long = { messages: user("Tell me of the river."), max_tokens: 300, temperature: 0, ignore_eos: true };

const Completion = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })) });
const Models = z.object({ data: z.array(z.object({ status: z.string() })) });

const readMessages = (body: unknown): unknown => Completion.parse(body).choices.map(({ message }) => message);

describe("a server over workers", () => {
  it(
    "ends a stream with worker_lost, returns 503 meanwhile, and serves the model again automatically",
    { timeout: 90_000 },
    async () => {
      await using worker = await startWorker();
      await using server = await serverOver(worker.port);
      const request = { ...long, max_tokens: 8 };
      const before: unknown = await (await server.post(request)).json();
      const reply = await server.post({ ...long, stream: true });
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of reply.body ?? []) {
        if (text === "") killComputing();
        text += decoder.decode(chunk, { stream: true });
      }
      expect(text).toContain('"code":"worker_lost"');
      expect(text).not.toContain("[DONE]");
      // Requests now wait until the model is back, which only they ask for; the worker starts another process soon.
      const after = await server.post(request);
      expect(after.status).toBe(200);
      expect(readMessages(await after.json())).toEqual(readMessages(before));
    },
  );

  it(
    "says that a worker cannot be reached, and loads the model when it is back without a request",
    { timeout: 120_000 },
    async () => {
      const worker = await startWorker();
      const { port } = worker;
      await using server = await serverOver(port);
      const isLoaded = async (): Promise<boolean> => {
        const { data } = Models.parse(await (await fetch(`${server.baseUrl}/models`)).json());
        return data[0]?.status === "loaded";
      };
      expect(await isLoaded()).toBe(true);
      await worker[Symbol.asyncDispose]();
      const status = async (): Promise<number> => (await server.post({ ...long, max_tokens: 1 })).status;
      await expect.poll(status).toBe(503);
      const refused = await server.post({ ...long, max_tokens: 1 });
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(await refused.json()).toMatchObject({
        error: { code: "worker_unreachable", type: "unavailable_error" },
      });
      await using _back = await startWorker(port);
      await expect.poll(isLoaded, { timeout: 60_000 }).toBe(true);
      expect(await status()).toBe(200);
    },
  );
});
