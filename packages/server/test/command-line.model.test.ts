// `ingle` as a child process, with the real addon and a tiny model.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import type { ChatCompletion } from "@ingle/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { ZmtpClient } from "./harness/zmtp-client.ts";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const variantC = fileURLToPath(new URL("../bin/ingle-lm-server.js", import.meta.url));

interface Running {
  child: ChildProcess;
  output: () => string;
  /** Resolves with the match once the output contains it. */
  says(pattern: RegExp): Promise<RegExpMatchArray>;
  ended(): Promise<{ code: number | null; signal: string | null }>;
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start(bin: string, ...args: string[]): Running {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  child.stdout?.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (output += data.toString()));
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  return {
    child,
    output: () => output,
    says: async (pattern) => {
      for (let wait = 0; wait < 2000; wait += 1) {
        const match = output.match(pattern);
        if (match) return match;
        if (child.exitCode !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`the output never had ${pattern}:\n${output}`);
    },
    ended: async () => {
      const [code, signal] = await closed;
      return { code, signal };
    },
  };
}

async function startServer(
  bin = program,
  fixture: Parameters<typeof tinyModel>[0] = {},
  flags: string[] = [],
): Promise<Running & { url: string }> {
  const model = await tinyModel(fixture);
  const subcommand = bin === program ? ["serve"] : [];
  const running = start(bin, ...subcommand, "--model", model, "--threads", "1", "--port", "0", ...flags);
  const [, url = ""] = await running.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  await running.says(/curl /);
  return { ...running, url };
}

async function firstModelId(url: string): Promise<string> {
  const list = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
  return list.data[0]?.id ?? "";
}

async function chat(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: await firstModelId(url),
      messages: [{ role: "user", content: "hi" }],
      ...body,
    }),
  });
}

describe("the command line with a real model", () => {
  it("serves, and exits with 0 after the first Ctrl-C", async () => {
    const server = await startServer();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await chat(server.url, { max_tokens: 5 })).status).toBe(200);
    server.child.kill("SIGINT");
    expect(await server.ended()).toEqual({ code: 0, signal: null });
  });

  it("finishes a running stream after SIGTERM, and refuses new requests meanwhile", async () => {
    const server = await startServer();
    const response = await chat(server.url, { max_tokens: 1500, stream: true });
    const body = response.text();
    server.child.kill("SIGTERM");
    await server.says(/Stopping/);
    const late = await chat(server.url, { max_tokens: 5 }).catch(() => undefined);
    if (late !== undefined) expect(late.status).toBe(503);
    expect((await body).trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(await server.ended()).toEqual({ code: 0, signal: null });
  });

  it("publishes the blocks of its KV cache, under its own address and the model's id", async () => {
    const server = await startServer(program, {}, ["--kv-events", "tcp://127.0.0.1:0"]);
    const [, port] = await server.says(/KV events +on port (\d+) of 127\.0\.0\.1/);
    using follower = await ZmtpClient.connect(Number(port), { type: "SUB" });
    follower.subscribe("kv@");
    const [cleared] = await follower.message();
    expect(cleared?.toString()).toBe(`kv@${new URL(server.url).host}@${await firstModelId(server.url)}`);
    const content = "Nobody asks why the river is quiet tonight. ".repeat(20);
    await chat(server.url, { max_tokens: 1, messages: [{ role: "user", content }] });
    const [topic, , payload] = await follower.message();
    expect(topic).toEqual(cleared);
    expect(payload?.toString("latin1")).toContain("BlockStored");
    server.child.kill("SIGINT");
    expect(await server.ended()).toEqual({ code: 0, signal: null }); // a subscriber does not delay the exit
  });

  it("stops at once after the second Ctrl-C", async () => {
    const server = await startServer(program, { layers: 24, embedding: 256 }); // slow enough to be interrupted while it generates
    const response = await chat(server.url, { max_tokens: 1900, stream: true });
    const body = response.text().catch(() => "cut");
    server.child.kill("SIGINT");
    await server.says(/Stopping/);
    await new Promise((resolve) => setTimeout(resolve, 300)); // a repeat within 150 ms counts as the same key press
    server.child.kill("SIGINT");
    expect((await server.ended()).code).toBe(130);
    expect(await body).not.toContain("[DONE]");
  });

  it("continues past the end of the context with --context-overflow shift, and stops there without it", async () => {
    const ending = await startServer(program, {}, ["--ctx", "64"]);
    const body = { max_tokens: 150, temperature: 0 };
    const whole = (await (await chat(ending.url, body)).json()) as ChatCompletion;
    expect(whole.choices[0]?.finish_reason).toBe("length");
    expect(whole.usage.total_tokens).toBe(64);
    expect(whole.timings.dropped_n).toBe(0);
    const shifting = await startServer(program, {}, ["--ctx", "64", "--context-overflow", "shift"]);
    const passed = (await (await chat(shifting.url, body)).json()) as ChatCompletion;
    expect(passed.choices[0]?.finish_reason).toBe("length");
    expect(passed.usage.completion_tokens).toBe(150);
    expect(passed.timings.dropped_n).toBeGreaterThan(50);
  });

  it("has the command-line variant as ingle_lm.server: it serves the id given to --model, and any other is a 404", async () => {
    const server = await startServer(variantC);
    const id = await firstModelId(server.url);
    expect((await chat(server.url, { max_tokens: 2 })).status).toBe(200);
    expect((await chat(server.url, { model: await tinyModel(), max_tokens: 2 })).status).toBe(200);
    expect((await chat(server.url, { model: `${id}-not`, max_tokens: 2 })).status).toBe(404);
  });

  it("runs a prompt and prints only the reply on stdout", async () => {
    const child = spawn(
      process.execPath,
      [
        program,
        "run",
        "Once upon a time",
        "--model",
        await tinyModel(),
        "--temperature",
        "0",
        "--max-tokens",
        "8",
      ],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    children.push(child);
    let stdout = "";
    child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(0);
    expect(stdout.trim()).not.toBe("");
    expect(stdout).not.toMatch(/loading/i);
  });

  it("says what is wrong with a file and exits with 1", async () => {
    const run = start(program, "run", "hello", "--model", program.replace("ingle.js", "nothing.gguf"));
    expect((await run.ended()).code).not.toBe(0);
    expect(run.output()).toMatch(/no model file|not found|There is no/i);
    expect(run.output()).not.toMatch(/\n\s+at /);
  });

  it("prints the build with doctor", async () => {
    const run = start(program, "doctor");
    expect((await run.ended()).code).toBe(0);
    expect(run.output()).toMatch(/llama\.cpp/);
    expect(run.output()).toMatch(/q8_0/);
  });

  it("prints with doctor what models would get: one with experts, and one that is not a model", async () => {
    const moe = await tinyModel({ architecture: "lfm2moe" });
    const run = start(program, "doctor", moe, "--json");
    expect((await run.ended()).code).toBe(0);
    const { devices, models } = JSON.parse(run.output());
    expect(devices).toContainEqual(
      expect.objectContaining({ type: "cpu", memory_total_bytes: expect.any(Number) }),
    );
    expect(models).toEqual([
      expect.objectContaining({ fits: true, context_length: 2048, layers: { host: 4 }, cpu_moe_layers: 0 }),
    ]);
    expect(models[0].memory_bytes.host).toBeGreaterThan(models[0].context_length);
    const text = start(program, "doctor", moe);
    expect((await text.ended()).code).toBe(0);
    expect(text.output()).toContain(models[0].summary);
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-doctor-"));
    await writeFile(path.join(folder, "text.gguf"), "no model");
    const damaged = start(program, "doctor", path.join(folder, "text.gguf"));
    expect((await damaged.ended()).code).toBe(0);
    expect(damaged.output()).toMatch(/WOULD GET\ntext .*GGUF/);
    await rm(folder, { recursive: true });
  });
});
