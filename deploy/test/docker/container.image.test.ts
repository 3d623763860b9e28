// Builds the Dockerfile's image for the CPU and runs it: with a container engine if this machine has one, else by its steps in a minimal
// Debian.
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bareImage } from "./bare-image.ts";
import type { Container, Image } from "./container.ts";
import { containerEngine, engineImage } from "./engine-image.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** Time limit of the build. The kernels are compiled for 14 kinds of processors: minutes on two cores with a compiler cache. */
const buildLimitMs = 60 * 60_000;
/** The maximum size of Ingle in the image: its run-time files without tools, sources and caches. */
const installedMiBMax = 130;
const readyLimitMs = 60_000;
const user = 10_001;
const modelId = "acme/tiny-GGUF:F16";

let image: Image;
let models: string;

beforeAll(async () => {
  models = await mkdtemp(path.join(tmpdir(), "ingle-models-"));
  const folder = path.join(models, "models", "acme", "tiny-GGUF");
  await mkdir(folder, { recursive: true });
  await copyFile(await tinyModel(), path.join(folder, "tiny-F16.gguf"));
  await chmod(models, 0o755);
  await chownAll(models);
  const engine = await containerEngine();
  image = await (engine === undefined ? bareImage(checkout) : engineImage(engine, checkout));
}, buildLimitMs);

afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await rm(models, { recursive: true });
});

/** A folder for a volume that the container's user can write. */
async function chownAll(folder: string): Promise<void> {
  await chown(folder, user, user);
  for (const name of await readdir(folder, { recursive: true }))
    await chown(path.join(folder, name), user, user);
}

async function start(env: Record<string, string> = {}): Promise<Container> {
  return await image.start({
    models,
    env: { MODEL_NAME: "acme/tiny", INGLE_OFFLINE: "1", INGLE_NO_AUTH: "1", INGLE_THREADS: "1", ...env },
  });
}

/** Runs the health check until it succeeds. */
async function healthy(container: Container): Promise<void> {
  const giveUpAt = Date.now() + readyLimitMs;
  while ((await container.exec(image.config.healthCheck)).code !== 0) {
    if (Date.now() > giveUpAt) throw new Error(`The server did not get healthy:\n${await container.log()}`);
  }
}

/** One request from inside the container; the status, and the body as JSON. */
async function ask(
  container: Container,
  url: string,
  body?: object,
): Promise<{ status: number; json: unknown }> {
  const script = `const [url, body] = process.argv.slice(1);
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, body === undefined ? {} : { method: "POST", headers, body });
    console.log(JSON.stringify({ status: response.status, json: await response.json() }));`;
  const words = [
    "node",
    "--input-type=module",
    "-e",
    script,
    url,
    ...(body === undefined ? [] : [JSON.stringify(body)]),
  ];
  const { code, stdout, stderr } = await container.exec(words);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe("the image", () => {
  it("serves as an unprivileged user on a read-only root, and exits with 0 on SIGTERM", async () => {
    await using container = await start();
    expect((await container.exec(image.config.healthCheck)).code).toBe(1);
    await healthy(container);
    expect(await container.serverUser()).toBe(String(user));
    expect((await container.exec(["touch", "/opt/ingle/new"])).stderr).toContain("Read-only file system");
    const list = await ask(container, "http://127.0.0.1:8000/v1/models");
    expect(list.json).toMatchObject({ data: [{ id: modelId, status: "loaded" }] });
    const request = { model: modelId, messages: [{ role: "user", content: "hi" }], max_tokens: 5 };
    const reply = await ask(container, "http://127.0.0.1:8000/v1/chat/completions", request);
    expect(reply).toMatchObject({ status: 200, json: { usage: { completion_tokens: 5 } } });
    expect(await container.stop()).toBe(0);
  });

  it("listens on PORT, and its health check uses the same port", async () => {
    await using container = await start({ PORT: "8123" });
    await healthy(container);
    expect((await ask(container, "http://127.0.0.1:8123/v1/models")).status).toBe(200);
  });

  it("refuses to start without a key, and explains what to do", async () => {
    await using container = await start({ INGLE_NO_AUTH: "" });
    expect(await container.ended()).toBe(2);
    expect(await container.log()).toContain("Set one with --api-key or INGLE_API_KEYS");
  });

  it("has code for every kind of processor, and uses the best for this one", async () => {
    await using container = await start();
    const release = "/opt/ingle/packages/engine-native/build/Release";
    const { stdout } = await container.exec(["ls", release]);
    const oldest = { x64: "x64", arm64: "armv8.0_1" }[process.arch as string];
    expect(stdout.split("\n")).toContain(`libggml-cpu-${oldest}.so`);
    const doctor = (await container.exec(["ingle", "doctor"])).stdout;
    expect(doctor).toContain("for all processors\n");
    // The compiler's own features say what the best is, where the system lists them.
    const info = await readFile("/proc/cpuinfo", "utf8");
    for (const feature of ["avx512_vnni", "avx2"].filter((name) => info.includes(` ${name} `)))
      expect(doctor.toLowerCase()).toContain(feature);
  });

  it("contains only run-time files", async () => {
    expect(await image.bytes("/opt/ingle")).toBeLessThan(installedMiBMax * 1024 * 1024);
  });
});
