// What shows only after a long time or under very many requests, on a real `ingle serve` with its engine in a process of its own: memory that
// grows, requests that get lost, an engine that is killed again and again. INGLE_SOAK_MINUTES is how long the mixed load lasts.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, get, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { RunningProgram, tinyModel } from "@ingle/fixtures";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const soakMs = Number(process.env["INGLE_SOAK_MINUTES"] ?? 3) * 60_000;
const startLimitMs = 60_000;
/** How much larger memory may be at the end than in the middle. */
const growthMax = 1.02;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-soak-"));
});
afterEach(() => rm(home, { recursive: true }));

class Server implements AsyncDisposable {
  readonly process: RunningProgram;
  readonly port: number;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 2_000 });

  readonly model: string;

  private constructor(process: RunningProgram, port: number, model: string) {
    this.process = process;
    this.port = port;
    this.model = model;
  }

  static async start(...flags: string[]): Promise<Server> {
    const model = await tinyModel();
    const args = ["serve", "--model", model, "--port", "0", "--ctx", "512", "--threads", "1", ...flags];
    const env = { ...process.env, INGLE_HOME: home, INGLE_RATE_LIMIT: "0" };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const running = new RunningProgram("ingle", child);
    await running.written("Ctrl-C", startLimitMs);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(running.stdout)?.[1]);
    return new Server(running, port, path.basename(model, ".gguf"));
  }

  /** The status and the body of a completion. */
  async complete(body: object): Promise<{ status: number; text: string }> {
    const payload = JSON.stringify({ model: this.model, prompt: "One river", ...body });
    return await new Promise((resolve, reject) => {
      const sent = request(
        {
          port: this.port,
          host: "127.0.0.1",
          path: "/v1/completions",
          method: "POST",
          agent: this.agent,
          headers: { "content-type": "application/json", "content-length": Buffer.byteLength(payload) },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
          response.once("error", reject);
        },
      );
      sent.once("error", reject);
      sent.end(payload);
    });
  }

  async health(): Promise<number> {
    return await new Promise((resolve, reject) => {
      get({ port: this.port, host: "127.0.0.1", path: "/readyz" }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).once("error", reject);
    });
  }

  async enginePids(): Promise<number[]> {
    const { pid } = this.process;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1");
    return children.trim().split(/\s+/).filter(Boolean).map(Number);
  }

  /** Memory of the server and of its engine, in bytes. */
  async resident(): Promise<number> {
    const sizes = [this.process.pid, ...(await this.enginePids())].map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "latin1");
      return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agent.destroy();
    await this.process.stop("SIGTERM", startLimitMs);
  }
}

/** Does `count` pieces of work, `together` at a time. */
async function each(count: number, together: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: together }, worker));
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** How much larger memory is in the last quarter of the samples than in the one before. */
function growth(samples: readonly number[]): number {
  const quarter = Math.floor(samples.length / 4);
  return median(samples.slice(-quarter)) / median(samples.slice(-2 * quarter, -quarter));
}

it.runIf(process.platform === "linux")("a hundred thousand tiny requests leave memory as it is", async () => {
  await using server = await Server.start();
  const samples: number[] = [];
  const count = 100_000;
  await each(count, 16, async (index) => {
    const { status } = await server.complete({ prompt: `river ${index}`, max_tokens: 1 });
    expect(status).toBe(200);
    if (index % 1_000 === 0) samples.push(await server.resident());
  });
  expect(growth(samples)).toBeLessThan(growthMax);
});

it.runIf(process.platform === "linux")(
  "a thousand streams at once all end, each with all of its tokens",
  async () => {
    await using server = await Server.start("--waiting-max", "2000", "--connections-per-address", "0");
    const streams = Array.from({ length: 1_000 }, async (_, index) => {
      const body = { stream: true, max_tokens: 8, seed: index, ignore_eos: true };
      const { status, text } = await server.complete({ ...body, stream_options: { include_usage: true } });
      return {
        status,
        tokens: /"completion_tokens":(\d+)/.exec(text)?.[1],
        isWhole: text.endsWith("data: [DONE]\n\n"),
      };
    });
    const kinds = new Map<string, number>();
    for (const result of await Promise.all(streams)) {
      const kind = JSON.stringify(result);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(kinds)).toEqual({ '{"status":200,"tokens":"8","isWhole":true}': 1_000 });
    expect(await server.health()).toBe(200);
  },
);

it.runIf(process.platform === "linux")(
  "under a mixed load with an engine that is killed again and again, every request has an end, and memory stays",
  async () => {
    await using server = await Server.start();
    const end = Date.now() + soakMs;
    const samples: number[] = [];
    const statuses = new Map<number, number>();
    let kills = 0;
    const load = async (worker: number): Promise<void> => {
      for (let index = 0; Date.now() < end; index += 1) {
        const isStream = (index + worker) % 2 === 0;
        const body = {
          prompt: "river ".repeat(1 + ((index * 7 + worker) % 60)),
          max_tokens: 1 + (index % 40),
        };
        const { status, text } = await server.complete({ ...body, stream: isStream });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // A reply that is cut says so, and a refused request why.
        const isEnded =
          status === 200 ? /\[DONE\]|"error"|"finish_reason"/.test(text) : text.includes('"error"');
        expect([status, isEnded, text.slice(0, 200)]).toEqual([status, true, text.slice(0, 200)]);
        if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const kill = async (): Promise<void> => {
      while (Date.now() < end) {
        // The sizes of a process that has just started say nothing.
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        samples.push(await server.resident().catch(() => 0));
        const [engine] = await server.enginePids();
        if (engine === undefined) continue;
        process.kill(engine, "SIGKILL");
        kills += 1;
      }
    };
    await Promise.all([...Array.from({ length: 8 }, (_, worker) => load(worker)), kill()]);
    expect(kills).toBeGreaterThan(soakMs / 20_000);
    expect(statuses.get(200)).toBeGreaterThan(100);
    expect([...statuses.keys()].filter((status) => ![200, 500, 503].includes(status))).toEqual([]);
    await expect.poll(() => server.complete({ max_tokens: 1 }).then(({ status }) => status)).toBe(200);
    expect(growth(samples.filter((bytes) => bytes > 0))).toBeLessThan(1.1); // each engine is another one
  },
);
