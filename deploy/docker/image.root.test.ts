// Builds the Dockerfile's image for the CPU and runs it: with a container engine if this machine has one, else by its steps in a minimal
// Debian.
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bareImage } from "./bare-image.ts";
import type { Container, Image } from "./container.ts";
import { containerEngine, engineImage } from "./engine-image.ts";

const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/** Time limit of the build. Everything is compiled for three processor levels: minutes on two cores with a compiler cache. */
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
    const answer = await fetch(url, body === undefined ? {} : { method: "POST", headers, body });
    console.log(JSON.stringify({ status: answer.status, json: await answer.json() }));`;
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
    expect(await container.userOfServer()).toBe(String(user));
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

  // Images for architectures other than x86-64 are built for the building machine's processor.
  it.runIf(process.arch === "x64")(
    "has a build for each processor level, and uses the highest one that this processor supports",
    async () => {
      await using container = await start();
      const levels = "/opt/ingle/packages/engine-native/build/levels";
      const { stdout } = await container.exec(["ls", levels]);
      expect(stdout.split("\n")).toEqual(["x86-64-v3.node", "x86-64-v4.node", "x86-64.node", ""]);
      const script = `const { levelFor, processorFlags } = await import(process.argv[1]);
      console.log(levelFor(["x86-64", "x86-64-v3", "x86-64-v4"], processorFlags()));`;
      const module = "/opt/ingle/packages/engine-native/levels.js";
      const level = await container.exec(["node", "--input-type=module", "-e", script, module]);
      expect((await container.exec(["ingle", "doctor"])).stdout).toContain(`for ${level.stdout.trim()}\n`);
    },
  );

  it("contains only run-time files", async () => {
    expect(await image.bytes("/opt/ingle")).toBeLessThan(installedMiBMax * 1024 * 1024);
  });
});
