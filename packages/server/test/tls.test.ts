import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError, type ServerFlags } from "../src/config.ts";
import { serve } from "../src/serve.ts";
import { scriptedServer, testConfig } from "./harness/scripted-server.ts";
import { exchange, requestText } from "./raw-http.ts";
import { selfSigned } from "./self-signed.ts";

const own = selfSigned();
let folder: string;
let files: { tlsCert: string; tlsKey: string };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-tls-"));
  files = { tlsCert: await write("cert.pem", own.cert), tlsKey: await write("key.pem", own.key) };
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

async function readText(url: string): Promise<{ status: number | undefined; body: string }> {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    get(url, { ca: own.cert, servername: "localhost", agent: false }, resolve).on("error", reject);
  });
  return { status: response.statusCode, body: (await response.toArray()).join("") };
}

async function refusedSetting(flags: ServerFlags): Promise<string> {
  try {
    await using server = await serve(testConfig(flags), { logger: false });
    return `serves at ${server.url}`;
  } catch (error) {
    if (error instanceof ConfigError) return error.setting;
    throw error;
  }
}

describe("with --tls-cert and --tls-key", () => {
  it("the server speaks HTTPS and says so in its address", async () => {
    await using scripted = await scriptedServer({ flags: files });
    expect(scripted.server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { status, body } = await readText(`${scripted.server.url}/v1/models`);
    expect([status, JSON.parse(body)]).toMatchObject([200, { object: "list" }]);
  });

  it("plain HTTP to its port is closed, and the server continues", async () => {
    await using scripted = await scriptedServer({ flags: files });
    expect((await exchange(scripted.server.port, requestText("GET /v1/models"))).body).toBe("");
    expect((await readText(`${scripted.server.url}/livez`)).status).toBe(200);
  });

  it("the same hosts are refused as without", async () => {
    await using scripted = await scriptedServer({ flags: files });
    const { port } = scripted.server;
    const options = { ca: own.cert, servername: "localhost", agent: false, headers: { host: "evil.com" } };
    const status = await new Promise((resolve, reject) => {
      const request = get(`https://127.0.0.1:${port}/livez`, options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject);
    });
    expect(status).toBe(403);
  });
});

describe("TLS files that cannot be used", () => {
  it("are named before the server listens", async () => {
    const missing = path.join(folder, "no-such.pem");
    const noise = await write("noise.pem", "noise");
    const foreign = await write("foreign.pem", selfSigned().key);
    expect(await refusedSetting({ ...files, tlsCert: missing })).toBe("--tls-cert");
    expect(await refusedSetting({ ...files, tlsKey: missing })).toBe("--tls-key");
    expect(await refusedSetting({ ...files, tlsCert: noise })).toBe("--tls-cert");
    expect(await refusedSetting({ ...files, tlsKey: foreign })).toBe("--tls-cert");
  });

  it("are required together", () => {
    expect(() => testConfig({ tlsCert: files.tlsCert })).toThrow(/--tls-key/);
    expect(() => testConfig({ tlsKey: files.tlsKey })).toThrow(/--tls-cert/);
  });
});
