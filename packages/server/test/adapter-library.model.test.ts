// An adapter of the hub from the command line: pulled beside its model, listed, served with it, and removed.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { makeAdapterFolder, tinyModel } from "@ingle/fixtures";
import { Completion, ModelList } from "@ingle/protocol";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { main } from "../src/cli/main.ts";
import { testWorld, type TestWorld } from "./cli-context.ts";

const base = "acme/Tiny-GGUF:F32";
let home: string;
let hub: FakeHub;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-adapter-commands-"));
  hub = await FakeHub.start();
  // The engine converts into the folder of this process.
  vi.stubEnv("INGLE_HOME", home);
  const models = path.join(home, "models/acme/Tiny-GGUF");
  await mkdir(models, { recursive: true });
  await copyFile(await tinyModel(), path.join(models, "Tiny-F32.gguf"));
  const folder = path.join(home, "made");
  await makeAdapterFolder(folder, {
    model: {},
    kind: "peft",
    config: { base_model_name_or_path: "acme/Tiny" },
  });
  const read = async (name: string) => [name, await readFile(path.join(folder, name))] as const;
  const files = await Promise.all((await readdir(folder)).map(read));
  hub.add({ repo: "acme/law", files: Object.fromEntries(files), tags: ["lora"] });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

async function world(): Promise<TestWorld> {
  const env = { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url };
  return testWorld({ env, engine: await import("@ingle/engine") });
}

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { context, out, err } = await world();
  const code = await main("ingle", args, context);
  return { code, out: out(), err: err() };
}

it("is pulled, listed, and removed", async () => {
  const pulled = await run("pull", "acme/law", "--alias", "justice");
  expect(pulled).toMatchObject({ code: 0, out: `${path.join(home, "adapters/acme/law")}\n` });
  expect(pulled.err).toContain(`${base}:justice is ready`);
  expect((await run("list")).out).toMatch(/acme\/Tiny-GGUF:F32:justice +[\d.]+ KiB +adapter\n/);
  expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([{ id: base, adapters: ["justice"] }]);
  expect((await run("remove", `${base}:justice`)).out).toMatch(
    /^Removed acme\/Tiny-GGUF:F32:justice \([\d.]+ KiB\)\.\n$/,
  );
  expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([{ id: base, adapters: [] }]);
});

it("is served with its model, which was the model of the command or another one", async () => {
  await run("pull", "acme/law");
  const serving = await world();
  const args = [
    "serve",
    "--port",
    "0",
    "--offline",
    "--model",
    "acme/Tiny-GGUF",
    "--ctx",
    "256",
    "--threads",
    "1",
  ];
  const exit = main("ingle", args, serving.context);
  await serving.outHas("Ctrl-C");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(serving.out())?.[0] ?? "";
  const list = ModelList.parse(await (await fetch(`${url}/v1/models`)).json());
  expect(list.data.map(({ id, parent }) => [id, parent])).toEqual([
    [base, undefined],
    [`${base}:law`, base],
  ]);
  const complete = async (model: string): Promise<string> => {
    const body = { model, prompt: "Once upon", temperature: 0, max_tokens: 16 };
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/v1/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return Completion.parse(await response.json()).choices[0]?.text ?? "";
  };
  expect(await complete(`${base}:law`)).not.toBe(await complete(base));
  serving.signals.emit("SIGINT");
  expect(await exit).toBe(0);
});

it("--base is refused for a model", async () => {
  const { code, err } = await run("pull", "acme/Tiny-GGUF", "--base", base);
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--base is for adapters") });
});
