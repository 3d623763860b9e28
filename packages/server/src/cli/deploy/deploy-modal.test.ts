// `ingle deploy modal` with a fake `modal` program, and a deployment on a port of this machine.
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testWorld, type TestWorld } from "../../../test/cli-context.ts";
import { scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";
import { main } from "../main.ts";

const tokens = { MODAL_KEY: "wk-1", MODAL_SECRET: "ws-1" };
let bin: string;
let servers: Server[];

beforeEach(async () => {
  bin = await mkdtemp(path.join(tmpdir(), "ingle-deploy-"));
  servers = [];
});

afterEach(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await rm(bin, { recursive: true });
});

/** What `modal deploy` prints for each form: a tree of status rows. */
const created = {
  server: (address: string) => `├── 🔨 Created flash service endpoint for Server => ${address}`,
  web_server: (address: string) => `└── 🔨 Created web function serve => ${address} 🔑`,
};

/** Puts a program called `modal` into the PATH: a script of Node that finds `record(value)` to tell the test something. */
async function playModal(script: string): Promise<void> {
  const file = path.join(bin, "modal");
  const record = `const record = (value) => require("node:fs").writeFileSync(${JSON.stringify(recordFile())}, JSON.stringify(value));`;
  await writeFile(file, `#!${process.execPath}\n${record}\n${script}\n`);
  await chmod(file, 0o755);
}

const recordFile = (): string => path.join(bin, "record.json");
const recorded = async (): Promise<{ args: string[]; env: Record<string, string> }> =>
  JSON.parse(await readFile(recordFile(), "utf8"));
const prints = (...lines: string[]): string => `console.log(${JSON.stringify(lines.join("\n"))});`;
const recordsCall = "record({ args: process.argv.slice(2), env: process.env });";

/** A deployment: what Modal's proxy would do with each request. */
async function deployment(onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function world(env: NodeJS.ProcessEnv = tokens): TestWorld {
  return testWorld({ env: { PATH: bin, ...env } });
}

async function run(
  args: string[],
  env?: NodeJS.ProcessEnv,
): Promise<{ code: number; out: string; err: string }> {
  const { context, out, err } = world(env);
  const code = await main("ingle", ["deploy", "modal", ...args], context);
  return { code, out: out(), err: err() };
}

// The program is a script with a #! line, which Windows does not run.
describe.runIf(process.platform !== "win32")("ingle deploy modal", () => {
  it.each(["server", "web_server"] as const)(
    "deploys the form %s, has it reply once, and prints its address, its model and the cold start",
    async (form) => {
      await using running = await scriptedServer();
      const { url } = running.server;
      await playModal(prints("✓ Created objects.", created[form](`${url}/`), "✓ App deployed in 9.1s! 🎉"));
      const { code, out, err } = await run(["--form", form]);
      expect(err).toContain("App deployed in 9.1s!");
      expect({ code }).toEqual({ code: 0 });
      expect(out).toMatch(
        new RegExp(`address +${url}\n +model +${scriptedId}\n +cold start +\\d.* until it was ready\n`),
      );
      expect(out).toContain(`-H 'Modal-Key: YOUR_MODAL_KEY'`);
      expect(running.log.requests).toHaveLength(1);
    },
  );

  it("passes all flags to deploy.py, and what follows --", async () => {
    await playModal(`${recordsCall} process.exit(3);`);
    const flags = {
      MODEL_NAME: ["--model", "LiquidAI/LFM2-1.2B"],
      INGLE_MODAL_NAME: ["--name", "chat"],
      INGLE_MODAL_FORM: ["--form", "web_server"],
      INGLE_MODAL_GPU: ["--gpu", "L4"],
      INGLE_MODAL_REGION: ["--region", "us-west"],
      INGLE_MODAL_MIN_CONTAINERS: ["--min-containers", "1"],
      INGLE_MODAL_MAX_CONTAINERS: ["--max-containers", "4"],
      INGLE_MODAL_BUFFER_CONTAINERS: ["--buffer-containers", "2"],
      INGLE_MODAL_TARGET_CONCURRENCY: ["--target-concurrency", "16"],
      INGLE_MODAL_MAX_CONCURRENCY: ["--max-concurrency", "64"],
      INGLE_API_KEYS: ["--api-key", "a-key-of-enough-characters"],
      INGLE_MODAL_IMAGE: ["--image", "registry.example/ingle:cuda"],
    };
    const other = [
      "--startup-timeout",
      "2m",
      "--scaledown-window",
      "90s",
      "--snapshot",
      "--public",
      "--source",
      "x",
    ];
    await run([...Object.values(flags).flat(), ...other, "--", "--ctx", "16384", "--system", "a b"]);
    const { args, env } = await recorded();
    expect(args).toEqual(["deploy", expect.stringMatching(/deploy\/modal\/deploy\.py$/)]);
    for (const [variable, [, value]] of Object.entries(flags)) expect(env[variable], variable).toBe(value);
    expect(env).toMatchObject({
      INGLE_MODAL_STARTUP_TIMEOUT: "120",
      INGLE_MODAL_SCALEDOWN_WINDOW: "90",
      INGLE_MODAL_SNAPSHOT: "1",
      INGLE_MODAL_PUBLIC: "1",
      INGLE_MODAL_SOURCE: path.resolve("x"),
      INGLE_MODAL_SERVE_FLAGS: "--ctx 16384 --system 'a b'",
    });
  });

  it("sends the proxy's token and the key with each request, and shows neither", async () => {
    const asked: IncomingMessage["headers"][] = [];
    await using running = await scriptedServer({ flags: { apiKey: ["a-key-of-enough-characters"] } });
    const url = await deployment((request, response) => {
      asked.push(request.headers);
      void passOn(running.server.url, request, response);
    });
    await playModal(prints(created.server(url)));
    const { code, out, err } = await run(["--api-key", "a-key-of-enough-characters"]);
    expect(code).toBe(0);
    expect(asked.length).toBeGreaterThanOrEqual(3);
    for (const headers of asked)
      expect(headers).toMatchObject({
        "modal-key": "wk-1",
        "modal-secret": "ws-1",
        authorization: "Bearer a-key-of-enough-characters",
      });
    expect(out + err).not.toMatch(/wk-1|ws-1|a-key-of-enough-characters/);
    expect(out).toContain("-H 'Authorization: Bearer YOUR_KEY'");
  });

  it("waits while the platform refuses requests, and reports the last response on a time-out", async () => {
    await using running = await scriptedServer();
    let refusals = 2;
    const url = await deployment((request, response) => {
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(503).end("no container");
      } else void passOn(running.server.url, request, response);
    });
    await playModal(prints(created.server(url)));
    expect((await run([])).code).toBe(0);
    refusals = Number.POSITIVE_INFINITY;
    const { code, err } = await run(["--timeout", "1s", "--name", "chat"]);
    expect(code).toBe(1);
    expect(err).toContain(
      "was not ready within 1.0 s. Last response: status 503. `modal app logs chat` shows its log.",
    );
  });

  it("does not mistake another web page for an Ingle server", async () => {
    const url = await deployment((_request, response) => response.end("<html>"));
    await playModal(prints(created.server(url)));
    const { code, err } = await run(["--timeout", "1s"]);
    expect(code).toBe(1);
    expect(err).toContain("Last response: status 200.");
  });

  it("fails at once when the platform refuses the token", async () => {
    const url = await deployment((_request, response) => response.writeHead(401).end());
    await playModal(prints(created.server(url)));
    const { code, err } = await run([]);
    expect(code).toBe(1);
    expect(err).toContain("refused the credentials (401). Check MODAL_KEY and MODAL_SECRET.");
  });

  it("fails with the server's message when the model does not reply", async () => {
    await using running = await scriptedServer({
      script: { failure: { code: "engine_failed", message: "It broke." } },
    });
    await playModal(prints(created.server(running.server.url)));
    const { code, err } = await run([]);
    expect(code).toBe(1);
    expect(err).toMatch(/\/v1\/chat\/completions returned 500\. \w/);
  });

  it("says what to do without the modal program, and deploys nothing without a token", async () => {
    expect(await run([])).toMatchObject({ code: 1, err: expect.stringContaining("pip install modal") });
    await playModal(recordsCall);
    const { code, err } = await run([], {});
    expect(code).toBe(2);
    expect(err).toContain("modal workspace proxy-tokens create");
    await expect(recorded()).rejects.toThrow("ENOENT");
  });

  it("warns of a deployment that needs neither token nor key", async () => {
    await using running = await scriptedServer();
    await playModal(prints(created.server(running.server.url)));
    const { code, out, err } = await run(["--public"], {});
    expect(code).toBe(0);
    expect(err).toContain("Anyone who knows the address can use this deployment");
    expect(out).not.toContain("Modal-Key");
  });

  it("reports the program's exit code, and a missing address", async () => {
    await playModal(`console.error("Token missing."); process.exit(3);`);
    const failed = await run([]);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain("Token missing.\n");
    expect(failed.err).toContain("`modal deploy` failed (3)");
    await playModal(prints("✓ App deployed."));
    expect(await run([])).toMatchObject({ code: 1, err: expect.stringContaining("printed no web address") });
  });

  it.each([
    [["--api-key", "short"], "--api-key must be at least 16 characters"],
    [["--api-key", "sixteen-characters,and-a-comma"], "--api-key must not contain a comma"],
    [["--timeout", "soon"], "--timeout must be a time"],
    [["--startup-timeout", "1"], undefined],
    [["--startup-timeout", "10ms"], "--startup-timeout must be at least 1000 ms"],
    [["--gpu"], "argument missing"],
    [["--form", "other"], "Allowed choices are server, web_server"],
  ])("refuses %j before it deploys", async (flags, sentence) => {
    await playModal(`${recordsCall} process.exit(3);`);
    const { code, err } = await run(flags);
    expect(code).toBe(sentence === undefined ? 1 : 2);
    if (sentence !== undefined) expect(err).toContain(sentence);
  });

  it("interrupts the program at Ctrl-C, waits for its end, and ends with 130", async () => {
    await playModal(
      `process.on("SIGINT", () => { record("interrupted"); process.exit(1); });
       console.log("Building image …");
       setInterval(() => {}, 1000);`,
    );
    const { context, errHas, signals } = world();
    const ended = main("ingle", ["deploy", "modal"], context);
    await errHas("Building image");
    signals.emit("SIGINT");
    expect(await ended).toBe(130);
    expect(await readFile(recordFile(), "utf8")).toBe('"interrupted"');
  });

  it("stops waiting at Ctrl-C", async () => {
    const url = await deployment((_request, response) => response.writeHead(503).end());
    await playModal(prints(created.server(url)));
    const { context, errHas, signals } = world();
    const ended = main("ingle", ["deploy", "modal"], context);
    await errHas("Waiting for the first container");
    signals.emit("SIGTERM");
    expect(await ended).toBe(143);
  });
});

/** Forwards a request to the server behind the proxy. */
async function passOn(
  url: string,
  request: IncomingMessage,
  response: Parameters<RequestListener>[1],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization, "content-type": type } = request.headers;
  const passed = await fetch(url + (request.url ?? ""), {
    method: request.method ?? "GET",
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(type === undefined ? {} : { "content-type": type }),
    },
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
  response.writeHead(passed.status, { "content-type": "application/json" }).end(await passed.text());
}
