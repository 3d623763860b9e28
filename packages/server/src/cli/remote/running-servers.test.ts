import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { scriptedServer } from "../../../test/harness/scripted-server.ts";
import { main } from "../main.ts";
import { announceServer, loadedModels, runningApp, runningServers, tokenFor } from "./running-servers.ts";

const user = process.getuid?.();
const own = { url: "http://127.0.0.1:1", id: "a", token: "t".repeat(43) };
let home: string;
const folder = (): string => path.join(home, "run");
const paths = () => ({ ...scriptedEngine().libraryPaths({}), home });

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-run-"));
  await mkdir(folder());
});
afterEach(() => rm(home, { recursive: true }));

/** Writes a record as a server does, with changes. */
async function record(name: string, change: object = {}, mode = 0o600): Promise<string> {
  const file = path.join(folder(), name);
  await writeFile(file, JSON.stringify({ pid: process.pid, ...own, ...change }), { mode });
  await chmod(file, mode);
  return file;
}

async function urls(): Promise<string[]> {
  return (await runningServers(paths())).map(({ url }) => url);
}

describe("a record", () => {
  it("is readable by its user only, and removed when the server ends", async () => {
    const left = await record(`${process.pid}.json`, {}, 0o644);
    {
      await using _announced = await announceServer(paths(), { ...own, id: "new" });
      expect(JSON.parse(await readFile(left, "utf8"))).toMatchObject({ id: "new" });
      expect((await stat(left)).mode & 0o777).toBe(0o600);
      expect(await runningServers(paths())).toMatchObject([{ id: "new", token: own.token }]);
    }
    expect(await readdir(folder())).toEqual([]);
  });

  it("of a running process of this user is trusted", async () => {
    await record("1.json");
    expect(await urls()).toEqual([own.url]);
  });

  it.each([0o644, 0o640, 0o606, 0o622])("with permissions %o is not", async (mode) => {
    await record("1.json", {}, mode);
    expect(await urls()).toEqual([]);
  });

  it("behind a link is not", async () => {
    const file = await record("elsewhere");
    await symlink(file, path.join(folder(), "1.json"));
    expect(await urls()).toEqual([]);
  });

  it("that is incomplete or too long is not", async () => {
    await record("1.json", { token: undefined });
    await record("2.json", { url: "nowhere" });
    await record("3.json", { id: "x".repeat(20_000) });
    expect(await urls()).toEqual([]);
  });

  it("of a process that has ended is removed", async () => {
    const child = spawn(process.execPath, ["--version"]);
    await once(child, "close");
    await record("1.json", { pid: child.pid });
    expect(await urls()).toEqual([]);
    expect(await readdir(folder())).toEqual([]);
  });

  // As root, another user's process is started; otherwise the first process is one.
  it.runIf(user !== undefined)("of another user's process is not trusted", async () => {
    const nobody = 65_534;
    const child = user === 0 ? spawn("sleep", ["30"], { uid: nobody }) : undefined;
    try {
      if (child !== undefined) await once(child, "spawn");
      await record("1.json", { pid: child?.pid ?? 1 });
      expect(await urls()).toEqual([]);
    } finally {
      child?.kill("SIGKILL");
    }
  });
});

describe("the app", () => {
  const session = { right: "management", is_app: true };

  it("is recognized by its record and by its response to its own token", async () => {
    await using app = await listener(session);
    await record("1.json", { url: app.url });
    expect(await runningApp(paths())).toBeUndefined();
    await record("2.json", { url: app.url, isApp: true, id: undefined });
    expect(await runningApp(paths())).toEqual({ url: app.url, token: own.token });
    expect(app.asked).toEqual([`Bearer ${own.token}`]);
    expect([...(await loadedModels(paths())).keys()]).toEqual(["a"]);
  });

  it.each([{ right: "none", is_app: true }, { right: "management", is_app: false }, {}])(
    "that answers %j is none",
    async (response) => {
      await using other = await listener(response);
      await record("1.json", { url: other.url, isApp: true });
      expect(await runningApp(paths())).toBeUndefined();
    },
  );

  it("that does not respond is not running", async () => {
    await record("1.json", { isApp: true });
    expect(await runningApp(paths())).toBeUndefined();
  });
});

it.each([
  ["http://127.0.0.1:1337", true],
  ["http://[::1]:1337", true],
  ["https://localhost:1337", true],
  ["http://192.0.2.1:1337", false],
  ["http://127.0.0.1.evil.example", false],
])("the token for %s is given: %s", (url, isGiven) => {
  expect(tokenFor({ pid: 1, ...own, url })).toBe(isGiven ? own.token : undefined);
});

/** A listening socket, and what it received. */
async function listener(body: object = {}) {
  const asked: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { asked, url: `http://127.0.0.1:${address.port}`, [Symbol.asyncDispose]: close };
}

async function ingle(env: NodeJS.ProcessEnv, ...args: string[]) {
  const world = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home, ...env } });
  return { exit: await main("ingle", args, world.context), out: world.out(), err: world.err() };
}

describe("ingle ps", () => {
  const keys = { INGLE_API_KEYS: "a-key-of-this-user,other" };

  it("sends a server of this user its own token, and no key from the environment", async () => {
    await using honest = await listener();
    await record("1.json", { url: honest.url });
    await ingle(keys, "ps");
    expect(honest.asked).toEqual([`Bearer ${own.token}`]);
  });

  it("contacts no server whose record another user could have written", async () => {
    await using evil = await listener();
    await using honest = await listener();
    await record("1.json", { url: evil.url }, 0o666);
    await record("2.json", { url: honest.url });
    await ingle(keys, "ps");
    expect([evil.asked, honest.asked]).toEqual([[], [`Bearer ${own.token}`]]);
  });

  it("sends a key to the server of --url or INGLE_URL, an admin key first", async () => {
    await using named = await listener();
    await ingle({ ...keys, INGLE_URL: named.url }, "ps");
    await ingle({ ...keys, INGLE_ADMIN_KEYS: "manages" }, "ps", "--url", `${named.url}/`);
    await ingle(keys, "ps", "--url", named.url, "--api-key", "said");
    expect(named.asked).toEqual(["Bearer a-key-of-this-user", "Bearer manages", "Bearer said"]);
  });

  it("requires --url for a key if this user runs no server", async () => {
    const { exit, err } = await ingle({}, "ps", "--api-key", "said");
    expect([exit, err]).toEqual([2, expect.stringContaining("--url")]);
  });

  it("follows no redirects", async () => {
    await using other = await listener();
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { location: other.url }).end();
    }).listen(0, "127.0.0.1");
    await once(redirecting, "listening");
    const address = redirecting.address();
    const port = typeof address === "object" ? address?.port : undefined;
    await ingle(keys, "ps", "--url", `http://127.0.0.1:${port}`);
    redirecting.close();
    expect(other.asked).toEqual([]);
  });
});

describe("ingle load and unload", () => {
  it("manage a server of this user with inference keys alone, or without a key for others", async () => {
    for (const flags of [{ apiKey: ["tenant"] }, { host: "0.0.0.0", noAuth: true }]) {
      await using house = await scriptedServer({ flags });
      const { url, managementToken: token } = house.server;
      await using _announced = await announceServer(paths(), { url, id: "a", token });
      expect((await ingle({}, "unload", "scripted-model")).exit).toBe(0);
      expect((await ingle({}, "load", "scripted-model")).exit).toBe(0);
      expect((await ingle({ INGLE_API_KEYS: "tenant" }, "ps", "--url", url)).out).toContain("scripted-model");
    }
  });
});
