// Loads deploy.py with a stub of the package `modal` that checks parameters (stub/modal.py), and calls its functions as Modal does: a
// real model is pulled from a local hub, and a real server runs in a network namespace.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ingleProgram } from "../ingle-program.ts";
import { imageConfig, readStages } from "../docker/dockerfile.ts";
import { createNetwork } from "../hosts/namespaces.ts";

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const script = here("../../modal/deploy.py");
const runner = here("stub/run.py");
/** Time limit of one call of deploy.py: a server with a tiny model starts within seconds. */
const callLimitMs = 60_000;

let folder: string;
let hub: FakeHub;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-modal-"));
  await mkdir(path.join(folder, "bin"));
  await symlink(ingleProgram, path.join(folder, "bin", "ingle"));
  const weights = await readFile(await tinyModel());
  hub = await FakeHub.start(
    { repo: "LiquidAI/LFM2-8B-A1B", files: { "model.safetensors": Buffer.alloc(100) } },
    { repo: "LiquidAI/LFM2-8B-A1B-GGUF", files: { "LFM2-8B-A1B-Q4_K_M.gguf": weights } },
  );
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** An environment without the settings of this machine's user. */
function environment(settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: `${path.join(folder, "bin")}:${process.env["PATH"]}`,
    HOME: folder,
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: here("stub"),
    HF_ENDPOINT: hub.url,
    INGLE_HOME: path.join(folder, "models"),
    ...settings,
  };
}

async function call(what: string, settings: Record<string, string> = {}, file = script): Promise<string> {
  const options = { env: environment(settings), timeout: callLimitMs };
  return (await run("python3", [runner, file, what], options)).stdout;
}

type Declared = [name: string, given: Record<string, unknown>][];

async function declared(settings: Record<string, string> = {}): Promise<Declared> {
  return JSON.parse(await call("declare", settings));
}

/** The arguments of a decorator or of an image step. */
function given(declarations: Declared, name: string): Record<string, unknown> {
  const found = declarations.find(([each]) => each === name);
  if (found === undefined) throw new Error(`${name} was not declared.`);
  return found[1];
}

interface ApiResponse {
  status: number;
  body: unknown;
}

/** Starts a container's server without network access, with a read-only Volume, and sends it requests. */
async function serve(settings: Record<string, string> = {}): Promise<ApiResponse[]> {
  await using network = await createNetwork({ container: { address: "10.72.0.2" } });
  const body = { messages: [{ role: "user", content: "Hello" }], max_tokens: 5 };
  const host = "acme--ingle-server.us-east.modal.direct";
  const command = ["python3", runner, script, "serve", host, JSON.stringify(body)];
  const mounts = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  // No process outlives the call.
  const group = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const env = environment({ INGLE_MODAL_SERVE_FLAGS: "--threads 1", ...settings });
  await mkdir(path.join(folder, "models"), { recursive: true });
  const container = await network.run(
    "container",
    "unshare",
    [...group, "sh", "-ec", mounts, path.join(folder, "models"), ...command],
    { env },
  );
  const late = setTimeout(() => container.child.kill("SIGKILL"), callLimitMs);
  const code = await container.ended;
  clearTimeout(late);
  if (code !== 0) throw container.failure(`ended with ${code}`);
  return JSON.parse(container.stdout.trim().split("\n").at(-1) ?? "");
}

describe("a container", () => {
  it.each(["server", "web_server"])(
    "of the form %s serves the model that the image build pulled, offline, from a read-only Volume, under any host name",
    async (form) => {
      const settings = { INGLE_MODAL_FORM: form };
      expect(await call("pull", settings)).toContain("LFM2-8B-A1B-Q4_K_M.gguf\n");
      const [reply, models, end] = await serve(settings);
      expect(reply).toMatchObject({ status: 200, body: { usage: { completion_tokens: 5 } } });
      const data = [{ id: "LiquidAI/LFM2-8B-A1B-GGUF:Q4_K_M", status: "loaded" }];
      expect(models).toMatchObject({ status: 200, body: { data } });
      expect(end?.status).toBe(form === "server" ? 0 : undefined);
    },
  );

  it("requires the key if one is given", async () => {
    await call("pull");
    const [reply] = await serve({ INGLE_API_KEYS: "a-key-of-enough-characters" });
    expect(reply).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } } });
  });

  it("reports an error and does not start without its model", async () => {
    await expect(serve()).rejects.toThrow(/LiquidAI\/LFM2-8B-A1B is not on this machine.*ended with code 1/s);
  });
});

describe("deploy.py declares", () => {
  it("a server behind Modal's proxy, which requires a token, with the file's defaults", async () => {
    const declarations = await declared();
    expect(given(declarations, "App")).toMatchObject({ name: "ingle" });
    expect(given(declarations, "App.server")).toMatchObject({
      gpu: "L40S",
      port: 8000,
      unauthenticated: false,
      target_concurrency: 8,
      min_containers: null,
      buffer_containers: null,
      startup_timeout: 600,
      scaledown_window: 300,
      exit_grace_period: 30,
      routing_region: "us-east",
      enable_memory_snapshot: false,
      experimental_options: null,
      enter: { snap: false },
      volumes: { "/models": { name: "ingle-models", is_read_only: true } },
    });
    expect(given(declarations, "Image.env")).toEqual({
      vars: { INGLE_HOME: "/models/LiquidAI/LFM2-8B-A1B" },
    });
  });

  it("a web server, also behind the proxy", async () => {
    const declarations = await declared({
      INGLE_MODAL_FORM: "web_server",
      INGLE_MODAL_MAX_CONCURRENCY: "16",
    });
    expect(declarations.map(([name]) => name)).not.toContain("App.server");
    expect(given(declarations, "App.function")).toMatchObject({
      concurrent: { target_inputs: 8, max_inputs: 16 },
      web_server: { port: 8000, startup_timeout: 600, requires_proxy_auth: true },
      startup_timeout: 600,
      timeout: 600,
    });
  });

  it("the value of each setting, and passes it to the container", async () => {
    const settings = {
      MODEL_NAME: "acme/tiny:Q8_0",
      INGLE_MODAL_NAME: "chat",
      INGLE_MODAL_GPU: "H100:2",
      INGLE_MODAL_REGION: "us-west",
      INGLE_MODAL_MIN_CONTAINERS: "1",
      INGLE_MODAL_MAX_CONTAINERS: "4",
      INGLE_MODAL_BUFFER_CONTAINERS: "2",
      INGLE_MODAL_TARGET_CONCURRENCY: "16",
      INGLE_MODAL_STARTUP_TIMEOUT: "120",
      INGLE_MODAL_SCALEDOWN_WINDOW: "60",
      INGLE_MODAL_PUBLIC: "1",
      INGLE_MODAL_SNAPSHOT: "1",
      INGLE_MODAL_SERVE_FLAGS: "--ctx 16384",
    };
    const server = given(await declared(settings), "App.server");
    expect(server).toMatchObject({
      gpu: "H100:2",
      routing_region: "us-west",
      min_containers: 1,
      max_containers: 4,
      buffer_containers: 2,
      target_concurrency: 16,
      startup_timeout: 120,
      scaledown_window: 60,
      unauthenticated: true,
      enable_memory_snapshot: true,
      experimental_options: { enable_gpu_snapshot: true },
      enter: { snap: true },
      volumes: { "/models": { name: "chat-models" } },
      env: settings,
    });
  });

  it("secrets, each only where it is needed", async () => {
    const secrets = { INGLE_API_KEYS: "a-key-of-enough-characters", HF_TOKEN: "hf_secret" };
    const declarations = await declared(secrets);
    expect(given(declarations, "App.server")["secrets"]).toEqual([
      { values: { INGLE_API_KEYS: secrets.INGLE_API_KEYS } },
    ]);
    expect(given(declarations, "Image.run_function")).toMatchObject({
      args: ["LiquidAI/LFM2-8B-A1B"],
      secrets: [{ values: { HF_TOKEN: "hf_secret" } }],
      volumes: { "/models": { name: "ingle-models", is_read_only: false } },
    });
    const elsewhere = JSON.stringify(declarations.filter(([name]) => !/server|run_function/.test(name)));
    expect(elsewhere + JSON.stringify(given(declarations, "App.server")["env"])).not.toMatch(
      /hf_secret|a-key/,
    );
  });

  it("an image with the steps of the Dockerfile's CUDA build, in order", async () => {
    const stages = readStages(await readFile(here("../../docker/Dockerfile"), "utf8"), { GPU: "cuda" });
    const base = stages.find(({ name }) => name === "tools-cuda")?.from;
    const steps = stages
      .filter(({ name, from }) => name === "build" || from === "runtime-cuda")
      .flatMap(({ instructions }) => instructions.filter(({ word }) => word === "RUN"))
      .map(({ text }) => text.replace(/^.*image\.sh /, ""));
    const declarations = await declared();
    expect(given(declarations, "Image.from_registry")["tag"]).toBe(base);
    const taken = declarations
      .filter(([name]) => name === "Image.run_commands")
      .flatMap(([, { commands }]) => commands as string[]);
    expect(steps).toEqual(["tools", "build", "assemble /opt/ingle", "finish /opt/ingle"]);
    expect(taken.map((command) => command.replace(/^.*image\.sh /, ""))).toEqual(steps);
    expect(given(declarations, "Image.add_local_dir")).toMatchObject({
      local_path: here("../../..").replace(/\/$/, ""),
      remote_path: "/src",
      copy: true,
      ignore: { file: here("../../docker/Dockerfile.dockerignore") },
    });
    expect(imageConfig(stages.at(-1) ?? expect.fail()).env["INGLE_HOME"]).toBe("/models");
  });

  it("a custom image instead, if it is given", async () => {
    const declarations = await declared({ INGLE_MODAL_IMAGE: "registry.example/ingle:cuda" });
    expect(given(declarations, "Image.from_registry")["tag"]).toBe("registry.example/ingle:cuda");
    expect(declarations.map(([name]) => name)).not.toContain("Image.run_commands");
  });

  it.each([
    [{ INGLE_MODAL_FORM: "asgi" }, "INGLE_MODAL_FORM must be server or web_server"],
    [{ INGLE_MODAL_FORM: "web_server", INGLE_MODAL_SNAPSHOT: "1" }, "INGLE_MODAL_SNAPSHOT=1 needs server"],
    [{ INGLE_MODAL_MIN_CONTAINERS: "many" }, "invalid literal for int() with base 10: 'many'"],
  ])("nothing with %j, and reports why", async (settings, sentence) => {
    await expect(declared(settings)).rejects.toThrow(sentence);
  });

  it("no unknown parameters: the stub rejects them", async () => {
    const source = await readFile(script, "utf8");
    for (const [known, unknown] of [
      ["port=PORT", "ports=PORT"],
      ["create_if_missing", "create_when_missing"],
      ["snap=IS_SNAPSHOT", "snapshot=IS_SNAPSHOT"],
    ] as const) {
      expect(source).toContain(known);
      const file = path.join(folder, "deploy.py");
      await writeFile(file, source.replace(known, unknown));
      await expect(call("declare", {}, file)).rejects.toThrow("got an unexpected keyword argument");
    }
  });
});
