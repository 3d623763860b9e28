// Jobs with a real library: a file is imported and quantized, and another one downloaded from a local hub. Requests may then use
// the results.
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { Job, JobList, ManagedModelList } from "@ingle/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { resolveConfig } from "../src/config.ts";
import { installedModels } from "../src/cli/serve/installed-models.ts";
import { modelLibrary } from "../src/models/library/model-library.ts";
import { serve, type RunningServer } from "../src/serve.ts";
import { testWorld } from "./cli-context.ts";
import { expectDocumented } from "./documented.ts";

const repo = "acme/tiny-GGUF";
let home: string;
let hub: FakeHub;
let server: RunningServer;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-jobs-"));
  const bytes = await readFile(await tinyModel());
  hub = await FakeHub.start({ repo, files: { "tiny-Q8_0.gguf": bytes } });
  const env = { HOME: home, INGLE_HOME: path.join(home, "ingle"), HF_ENDPOINT: hub.url };
  const { context } = testWorld({ env });
  const config = resolveConfig({ flags: { port: 0, threads: 1, ctx: 512 }, env });
  server = await serve(config, {
    logger: false,
    library: modelLibrary({ env }),
    source: installedModels(context, () => config.engine),
  });
});
afterAll(async () => {
  await server.close({ deadlineMs: 0 });
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

async function ask(operation: string, init: RequestInit = {}): Promise<unknown> {
  const [method = "", route = ""] = operation.split(" ");
  const response = await fetch(server.url + route, { method, ...init });
  const copy = response.clone();
  await expectDocumented(server.url, operation, response);
  return await copy.json();
}

async function post(route: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return await ask(`POST ${route}`, { headers, body: JSON.stringify(body) });
}

const get = (route: string): Promise<unknown> => ask(`GET ${route}`);
const known = async () => ManagedModelList.parse(await get("/api/v1/models")).data;

/** Starts a job and waits for its end. */
async function ended(request: object): Promise<Job | undefined> {
  const { id } = Job.parse(await post("/api/v1/jobs", request));
  const find = async () => JobList.parse(await get("/api/v1/jobs")).data.find((job) => job.id === id);
  await expect.poll(async () => (await find())?.status, { timeout: 60_000 }).toMatch(/done|failed/);
  return await find();
}

it("imports a file of this machine, and quantizes it", async () => {
  const file = path.join(home, "mine-F32.gguf");
  await copyFile(await tinyModel({ weights: "f32" }), file);
  expect(await ended({ kind: "import", path: file })).toMatchObject({
    status: "done",
    model: "mine-F32",
    source: file,
  });
  const made = await ended({ kind: "quantize", model: "mine-F32", quantization: "Q8_0" });
  expect(made).toMatchObject({ status: "done", model: "mine-Q8_0", error: null });
  expect(made?.bytes).toBe(made?.total_bytes);
  const models = await known();
  expect(models.map(({ id }) => id).toSorted()).toEqual(["mine-F32", "mine-Q8_0"]);
  expect(models.find(({ id }) => id === "mine-Q8_0")).toMatchObject({
    format: "gguf",
    architecture: "llama",
    quantization: "Q8_0",
    removable: true,
  });
  const messages = [{ role: "user", content: "Hello" }];
  const reply = await post("/v1/chat/completions", { model: "mine-Q8_0", messages, max_tokens: 4 });
  expect(reply).toMatchObject({ model: "mine-Q8_0", choices: [{ finish_reason: "length" }] });
  expect((await known()).find(({ id }) => id === "mine-Q8_0")?.last_used_at).toBeGreaterThan(1e9);
});

it("says why a quantization fails", async () => {
  for (const [model, quantization, why] of [
    ["mine-F32", "Q9_9", /unknown quantization/],
    ["mine-F32", "IQ1_S", /importance matrix/],
    ["mine-Q8_0", "Q4_K_M", /already quantized/],
    ["/etc/passwd", "Q8_0", /is a path/],
    ["nobody", "Q8_0", /nobody/],
  ] as const) {
    const job = await ended({ kind: "quantize", model, quantization });
    expect(job).toMatchObject({ status: "failed", error: expect.stringMatching(why) });
  }
});

it("pauses a download and resumes it where it stopped", async () => {
  hub.slowly = { bytes: 4_096, delayMs: 20 };
  const { id } = Job.parse(await post("/api/v1/jobs", { kind: "pull", model: repo }));
  const find = async () => JobList.parse(await get("/api/v1/jobs")).data.find((job) => job.id === id);
  await expect.poll(async () => (await find())?.bytes ?? 0, { timeout: 20_000 }).toBeGreaterThan(10_000);
  const paused = Job.parse(await post("/api/v1/jobs/pause", { id }));
  expect(paused).toMatchObject({ status: "paused", can_pause: false });
  const sent = hub.bytesSent;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(hub.bytesSent).toBeLessThan(sent + 100_000);
  hub.slowly = { bytes: 0, delayMs: 0 };
  expect(Job.parse(await post("/api/v1/jobs/resume", { id })).status).toMatch(/running|done/);
  await expect.poll(async () => (await find())?.status, { timeout: 20_000 }).toBe("done");
  expect(await find()).toMatchObject({ model: `${repo}:Q8_0`, error: null });
  expect((await known()).map((model) => model.id)).toContain(`${repo}:Q8_0`);
  // What was downloaded before the pause is not requested again.
  expect(hub.byteRequests.at(-1)?.headers.range).toMatch(/^bytes=[1-9]/);
});
