// Keys and certificates that change while the server runs.
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, type ServerFlags } from "../src/config.ts";
import { serve } from "../src/serve.ts";
import { scriptedRegistry, testConfig } from "./harness/scripted-server.ts";
import { selfSigned } from "./self-signed.ts";

const wait = { timeout: 5_000, interval: 20 };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-renewed-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(name: string, text: string, mode = 0o600): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(`${file}.new`, text, { mode });
  await chmod(`${file}.new`, mode);
  await rename(`${file}.new`, file);
  return file;
}

/** A server that polls its files constantly, and its log. */
async function startServer(flags: ServerFlags) {
  const config = testConfig({ insecureShortKey: false, ...flags });
  const log: string[] = [];
  const { registry } = await scriptedRegistry({}, config);
  const logger = { level: "warn" as const, stream: { write: (line: string) => log.push(line) } };
  const server = await serve(config, { logger, registry, lookEveryMs: 10 });
  const fetchStatus = async (key: string, url = "/v1/models", method = "GET"): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(server.url + url, { method, headers })).status;
  };
  return { server, log, fetchStatus, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}

async function startError(flags: ServerFlags): Promise<ConfigError> {
  try {
    await using _running = await startServer(flags);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("no ConfigError was thrown");
}

const [first, second, third] = ["first-key-16-letters", "second-key-16-letters", "third-key-16-letters"];

describe("a key file", () => {
  it("contains one key per line, for inference or management", async () => {
    const apiKeyFile = await write("keys", `# tenants\n\n${first}\r\n  ${second}  \n`);
    const adminKeyFile = await write("admin", third);
    await using running = await startServer({ apiKeyFile, adminKeyFile });
    expect([await running.fetchStatus(first), await running.fetchStatus(second)]).toEqual([200, 200]);
    expect(await running.fetchStatus("# tenants")).toBe(401);
    const search = "/api/v1/models/search?q=x";
    expect([await running.fetchStatus(first, search), await running.fetchStatus(third, search)]).toEqual([
      403, 404,
    ]);
    expect(running.log).toEqual([]);
  });

  it("is read again when it changes: new keys work, and old ones do not", async () => {
    const apiKeyFile = await write("keys", first);
    await using running = await startServer({ apiKeyFile });
    expect([await running.fetchStatus(first), await running.fetchStatus(second)]).toEqual([200, 401]);
    await write("keys", second);
    await expect.poll(() => running.fetchStatus(second), wait).toBe(200);
    expect(await running.fetchStatus(first)).toBe(401);
  });

  it("that becomes unusable keeps the previous keys, and the log says so", async () => {
    const apiKeyFile = await write("keys", first);
    await using running = await startServer({ apiKeyFile });
    for (const text of ["short", "", undefined]) {
      const told = running.log.length;
      if (text === undefined) await rm(apiKeyFile);
      else await write("keys", text);
      await expect.poll(() => running.log.length, wait).toBe(told + 1);
    }
    expect(running.log.join()).toContain("its previous keys stay in use");
    expect([await running.fetchStatus(first), await running.fetchStatus("short")]).toEqual([200, 401]);
    await write("keys", second);
    await expect.poll(() => running.fetchStatus(second), wait).toBe(200);
  });

  it("that cannot be used fails before the server listens, without showing a key", async () => {
    const missing = await startError({ apiKeyFile: path.join(folder, "none") });
    expect([missing.setting, missing.message]).toEqual(["--api-key-file", expect.stringContaining("read")]);
    const empty = await startError({ adminKeyFile: await write("empty", "# nothing\n") });
    expect([empty.setting, empty.message]).toEqual([
      "--admin-key-file",
      expect.stringContaining("holds no key"),
    ]);
    const short = await startError({ apiKeyFile: await write("short", `${first}\nopensesame\n`) });
    expect(short.message).toContain("the key in line 2 of");
    expect(short.message).not.toContain("opensesame");
  });

  it.runIf(process.platform !== "win32")("that others can read is used with a warning", async () => {
    await using running = await startServer({ apiKeyFile: await write("keys", first, 0o644) });
    expect(await running.fetchStatus(first)).toBe(200);
    expect(running.log.join()).toContain("chmod 600");
  });
});

describe("a certificate", () => {
  /** The certificate of a new connection. */
  async function shown(port: number): Promise<string> {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    try {
      await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
      return socket.getPeerCertificate().fingerprint256;
    } finally {
      socket.destroy();
    }
  }
  const put = async ({ cert, key }: { cert: string; key: string }) => ({
    tlsCert: await write("cert.pem", cert),
    tlsKey: await write("key.pem", key),
  });

  it("is read again when it changes, and the old one stays if the new one cannot be used", async () => {
    await using running = await startServer(await put(selfSigned()));
    const { port } = running.server;
    const before = await shown(port);
    await write("cert.pem", "noise");
    await expect.poll(() => running.log.join(), wait).toContain("the previous one stays in use");
    expect(await shown(port)).toBe(before);
    await put(selfSigned());
    await expect.poll(() => shown(port), wait).not.toBe(before);
  });
});
