// Batches with OpenAI's own client, on a real tiny model; and a server that is killed while it computes one.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "./real-server.ts";

let folder: string;
let server: RealServer;
let openai: OpenAI;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-batches-"));
  server = await realServer({
    load: { contextLength: 512, parallel: 4 },
    flags: { batchStore: path.join(folder, "batches") },
  });
  openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "any", maxRetries: 0 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const endpoint = "/v1/chat/completions";

function chatLine(custom_id: string, more: object = {}): object {
  const messages = [{ role: "user", content: `Tell me of river ${custom_id}.` }];
  const body = { model: modelId, messages, max_tokens: 4, ...more };
  return { custom_id, method: "POST", url: endpoint, body };
}

async function createBatch(client: OpenAI, lines: readonly object[]): Promise<OpenAI.Batch> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), "in.jsonl"),
    purpose: "batch",
  });
  expect(file).toMatchObject({ object: "file", purpose: "batch", filename: "in.jsonl", bytes: text.length });
  const metadata = { night: "1" };
  return await client.batches.create({
    input_file_id: file.id,
    endpoint,
    completion_window: "24h",
    metadata,
  });
}

async function ended(client: OpenAI, id: string): Promise<OpenAI.Batch> {
  await expect
    .poll(async () => (await client.batches.retrieve(id)).status, { timeout: 20_000, interval: 20 })
    .toMatch(/^(completed|failed|cancelled)$/);
  return await client.batches.retrieve(id);
}

interface Line {
  custom_id: string;
  response: { status_code: number; body: OpenAI.ChatCompletion };
}

async function read(client: OpenAI, id: string | undefined): Promise<Line[]> {
  const text = await (await client.files.content(id ?? "")).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
}

describe("the openai client", () => {
  it("makes a batch, reads its results, and deletes its files", async () => {
    const wrong = chatLine("wrong", { temperature: -1 });
    const { id } = await createBatch(openai, [chatLine("one"), chatLine("two"), wrong]);
    const batch = await ended(openai, id);
    expect(batch).toMatchObject({
      status: "completed",
      request_counts: { total: 3, completed: 2, failed: 1 },
      metadata: { night: "1" },
    });
    const results = await read(openai, batch.output_file_id);
    expect(results.map(({ custom_id }) => custom_id).toSorted()).toEqual(["one", "two"]);
    expect(results[0]?.response).toMatchObject({ status_code: 200, body: { object: "chat.completion" } });
    const tokens = results.map(({ response }) => response.body.usage?.total_tokens ?? 0);
    expect(batch.usage?.total_tokens).toBe(tokens.reduce((sum, each) => sum + each, 0));
    const errors = await read(openai, batch.error_file_id);
    expect(errors).toMatchObject([{ custom_id: "wrong", response: { status_code: 400 } }]);

    const files: string[] = [];
    for await (const file of openai.files.list({ limit: 2 })) files.push(file.id);
    expect(new Set(files)).toEqual(new Set([batch.input_file_id, batch.output_file_id, batch.error_file_id]));
    for (const file of files) expect((await openai.files.delete(file)).deleted).toBe(true);
    await expect(openai.files.retrieve(files[0] ?? "")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("lists batches over several pages, and cancels one", async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => chatLine(`${index}`, { max_tokens: 64 }));
    const { id } = await createBatch(openai, lines);
    const found: string[] = [];
    for await (const batch of openai.batches.list({ limit: 1 })) found.push(batch.id);
    expect(found).toHaveLength(2);
    expect(found[0]).toBe(id);
    await openai.batches.cancel(id);
    expect(await ended(openai, id)).toMatchObject({ status: "cancelled" });
  });

  it("gets the reply to its own request while a batch is computed", async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => chatLine(`${index}`, { max_tokens: 64 }));
    const { id } = await createBatch(openai, lines);
    await expect
      .poll(async () => (await openai.batches.retrieve(id)).request_counts?.completed)
      .toBeGreaterThan(0);
    const completion = await openai.chat.completions.create({
      model: modelId,
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 2,
    });
    expect(completion.choices).toHaveLength(1);
    expect((await openai.batches.retrieve(id)).status).toBe("in_progress");
    await openai.batches.cancel(id);
    await ended(openai, id);
  });
});

describe("a server that is killed", () => {
  const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  async function startServer(model: string): Promise<{ client: OpenAI; child: ChildProcess }> {
    const args = ["serve", "--model", model, "--threads", "1", "--parallel", "4", "--port", "0"];
    const env = { ...process.env, INGLE_HOME: path.join(folder, "home") };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += String(data)));
    const address = /address +(http:\/\/127\.0\.0\.1:\d+)/;
    await expect.poll(() => output, { timeout: 20_000, interval: 10 }).toMatch(address);
    const baseURL = `${address.exec(output)?.[1]}/v1`;
    return { client: new OpenAI({ baseURL, apiKey: "any", maxRetries: 0 }), child };
  }

  it("has each result exactly once after it was started again, in its usual folder", async () => {
    const model = await tinyModel();
    const first = await startServer(model);
    const [{ id: name } = { id: "" }] = (await first.client.models.list()).data;
    const lines = Array.from({ length: 160 }, (_, index) =>
      chatLine(`${index}`, { model: name, max_tokens: 24, ignore_eos: true }),
    );
    const { id } = await createBatch(first.client, lines);
    const completed = async (client: OpenAI) =>
      (await client.batches.retrieve(id)).request_counts?.completed ?? 0;
    await expect.poll(() => completed(first.client), { timeout: 20_000, interval: 5 }).toBeGreaterThan(20);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");

    const second = await startServer(model);
    const batch = await ended(second.client, id);
    expect(batch).toMatchObject({
      status: "completed",
      request_counts: { total: 160, completed: 160, failed: 0 },
    });
    const results = await read(second.client, batch.output_file_id);
    expect([results.length, new Set(results.map(({ custom_id }) => custom_id)).size]).toEqual([160, 160]);
    const own = results.filter(({ response }) => response.status_code === 200);
    expect(own).toHaveLength(160);
    // The second server has computed only the rest.
    const metrics = await (await fetch(second.client.baseURL.replace("/v1", "/metrics"))).text();
    const count = /^ingle_requests_total\{[^}]*chat\/completions[^}]*\} (\d+)$/m.exec(metrics)?.[1];
    expect(Number(count)).toBeLessThanOrEqual(160 - 20);
  });
});
