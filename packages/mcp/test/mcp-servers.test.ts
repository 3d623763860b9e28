// Real MCP servers: processes with pipes, and streamable HTTP on loopback.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Approval, AskUser } from "../src/approvals.ts";
import { parseMcpConfig } from "../src/mcp-config.ts";
import { McpServers } from "../src/mcp-servers.ts";
import { oddHttpServer, sessionServer } from "./odd-http.ts";

const oddProgram = fileURLToPath(new URL("odd-server.js", import.meta.url));
const odd = (...args: string[]) => ({ command: process.execPath, args: [oddProgram, ...args] });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-mcp-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function start(servers: Record<string, unknown>, limits: object = {}): Promise<McpServers> {
  const started = new McpServers(parseMcpConfig(JSON.stringify({ mcpServers: servers, limits }), {}));
  await started.started;
  return started;
}

const answers = (approval: Approval) => vi.fn<AskUser>(async () => approval);
const yes = { ask: answers("once") };

/** The text of a call that is allowed. */
async function callText(servers: McpServers, name: string, args: object = {}): Promise<string> {
  const { content } = await servers.call(name, { ...args }, yes);
  return content.map((part) => (part.type === "text" ? part.text : `(${part.mimeType})`)).join("|");
}

describe.each([
  { way: "a process", modern: false },
  { way: "a process that speaks only the newest protocol", modern: true },
  { way: "HTTP", isHttp: true, modern: false },
  { way: "HTTP that speaks only the newest protocol", isHttp: true, modern: true },
])("a server behind $way", ({ isHttp = false, modern }) => {
  let servers: McpServers;
  let entry: object;
  let http: Awaited<ReturnType<typeof oddHttpServer>> | undefined;
  beforeAll(async () => {
    if (isHttp) http = await oddHttpServer({ token: "secret", legacy: modern ? "reject" : "stateless" });
    entry = isHttp
      ? { url: http?.url, headers: { Authorization: "Bearer secret" } }
      : odd(...(modern ? ["--modern"] : []));
    servers = await start({ odd: entry }, { callMs: 1_000, resultCharacters: 1_000, resultImages: 2 });
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    await http?.[Symbol.asyncDispose]();
  });

  it("lists its tools, without the one that no model could be told of", () => {
    const [server] = servers.list();
    expect(server).toMatchObject({ name: "odd", kind: isHttp ? "http" : "stdio", state: "ready" });
    expect(server?.problems).toEqual([
      'The tool "misdescribed" is left out: parameters: unknown type "town".',
    ]);
    expect(servers.tools.map(({ name }) => name)).toContain("with_spaces_");
    expect(servers.tools[0]).toMatchObject({
      name: "add",
      server: "odd",
      tool: "add",
      description: "Adds two numbers",
      parameters: { required: ["a", "b"] },
    });
  });

  it("calls tools, also those with odd names", async () => {
    expect(await callText(servers, "add", { a: 3, b: 4 })).toBe("7");
    expect(await callText(servers, "with_spaces_")).toBe("spaces");
    expect(await callText(servers, "structured")).toBe('{"degrees":21}');
    await expect(callText(servers, "nowhere")).rejects.toThrow('There is no tool "nowhere".');
  });

  it("returns what the tool says of its failure", async () => {
    expect(await servers.call("fail", {}, yes)).toEqual({
      content: [{ type: "text", text: "there is no such city" }],
      isError: true,
    });
  });

  it("keeps texts and images within the limits, and names what is left out", async () => {
    expect(await callText(servers, "long", { characters: 5_000 })).toBe(
      `${"x".repeat(1_000)}|[Cut: the result has 5000 characters, of which these are the first 1000.]`,
    );
    expect(await callText(servers, "pictures", { count: 3 })).toBe(
      "Here:|(image/png)|(image/png)|[Left out: image 3 of this result]",
    );
    expect(await callText(servers, "others")).toBe(
      "[Left out: audio, audio/wav]|[Link to notes: file:///notes.md]|the text of a file|[Left out: file:///a.bin, of unknown type]",
    );
    const { content } = await servers.call("long", { characters: 50 }, { ...yes, resultCharacters: 10 });
    expect(content[0]).toEqual({ type: "text", text: "x".repeat(10) });
  });

  it("cancels a call whose signal is aborted, and one that takes too long", async () => {
    for (const signal of [AbortSignal.timeout(100), undefined]) {
      const file = path.join(folder, `${Math.random()}`);
      const call = servers.call("wait", { file }, { ...yes, signal });
      await expect(call).rejects.toThrow(
        signal === undefined ? 'The MCP server "odd" did not answer within 1 s.' : "aborted due to timeout",
      );
      await expect.poll(() => readFile(file, "utf8")).toBe("called\ncancelled\n");
    }
  });

  it("reads no message that is larger than the limit", async () => {
    await using patient = await start({ odd: entry });
    const characters = 11 * 1024 * 1024;
    await expect(callText(patient, "long", { characters })).rejects.toThrow(/more than 8388608 bytes/);
    // After half a message, nothing else can be read from a process's pipe.
    if (isHttp) expect(await callText(patient, "ping")).toBe("pong");
    else expect(patient.list()[0]?.state).toBe("ended");
  });
});

describe("who may call", () => {
  it("asks before each call, with the server, the tool and the arguments", async () => {
    await using servers = await start({ odd: odd("add") });
    const ask = answers("once");
    for (const a of [1, 2]) await servers.call("add", { a, b: 1 }, { ask });
    expect(ask.mock.calls.map(([call]) => call)).toEqual([
      { server: "odd", tool: "add", arguments: { a: 1, b: 1 } },
      { server: "odd", tool: "add", arguments: { a: 2, b: 1 } },
    ]);
  });

  it("runs nothing that is refused", async () => {
    await using servers = await start({ odd: odd("wait", "add") });
    const file = path.join(folder, "refused");
    await expect(servers.call("wait", { file }, { ask: answers("no") })).rejects.toThrow(
      "The user did not allow this call.",
    );
    // The server has read everything before the result of a later call.
    expect(await callText(servers, "add", { a: 1, b: 1 })).toBe("2");
    await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("asks no more for a tool that is always allowed, but for others and for the same name elsewhere", async () => {
    await using servers = await start({ one: odd("ping", "add"), two: odd("ping") });
    const always = answers("always");
    await servers.call("one__ping", {}, { ask: always });
    await servers.call("one__ping", {}, { ask: always });
    expect(always).toHaveBeenCalledTimes(1);
    const no = answers("no");
    await expect(servers.call("two__ping", {}, { ask: no })).rejects.toThrow("did not allow");
    await expect(servers.call("add", { a: 1, b: 1 }, { ask: no })).rejects.toThrow("did not allow");
    const allowed = servers
      .list()
      .flatMap(({ tools }) => tools.map(({ name, isAllowed }) => [name, isAllowed]));
    expect(allowed).toEqual([
      ["one__ping", true],
      ["add", false],
      ["two__ping", false],
    ]);
  });

  it("asks for nothing that a rule of the file allows", async () => {
    await using servers = await start({
      one: { ...odd("ping", "add"), alwaysAllow: ["ping"] },
      two: { ...odd("fail"), autoApprove: ["*"] },
    });
    const no = answers("no");
    await servers.call("ping", {}, { ask: no });
    await servers.call("fail", {}, { ask: no });
    expect(no).not.toHaveBeenCalled();
    await expect(servers.call("add", {}, { ask: no })).rejects.toThrow("did not allow");
  });

  it("gives up a question together with the call", async () => {
    await using servers = await start({ odd: odd("ping") });
    const signal = AbortSignal.timeout(20);
    const ask: AskUser = (_call, options) =>
      new Promise((_resolve, reject) => {
        options.signal?.addEventListener("abort", () => reject(new Error("no answer")), { once: true });
      });
    await expect(servers.call("ping", {}, { ask, signal })).rejects.toThrow("no answer");
  });
});

describe("servers that fail", () => {
  it("says why in a sentence, and starts the others", async () => {
    await using http = await oddHttpServer({ token: "secret" });
    await using servers = await start(
      {
        good: odd("ping"),
        missing: { command: "no-such-program" },
        lost: { command: process.execPath, args: ["/no/such/file.js"] },
        silent: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] },
        closed: { url: "http://127.0.0.1:9/mcp" },
        locked: { url: http.url },
        wrong: { args: [] },
        off: { ...odd(), disabled: true },
      },
      { startMs: 3_000 },
    );
    const states = servers.list().map(({ name, state, problems }) => [name, state, problems.join(" ")]);
    expect(states).toEqual([
      ["good", "ready", ""],
      ["missing", "failed", "It cannot be started: there is no program no-such-program."],
      ["lost", "failed", "It has ended: Error: Cannot find module '/no/such/file.js'."],
      ["silent", "failed", "It was not ready within 3 s."],
      ["closed", "failed", expect.stringMatching(/^It failed: .*(ECONNREFUSED|bad port)/)],
      ["locked", "failed", expect.stringMatching(/401|[Uu]nauthorized/)],
      ["wrong", "failed", "It has a wrong entry: it needs either a command or a url."],
      ["off", "disabled", ""],
    ]);
    expect(await callText(servers, "ping")).toBe("pong");
  });

  it("reports a crash to the running call and to later ones", async () => {
    await using servers = await start({ odd: odd(), other: odd("ping") });
    const ended = 'The MCP server "odd" has ended: Error: out of luck.';
    await expect(callText(servers, "crash")).rejects.toThrow(ended);
    await expect(callText(servers, "add", { a: 1, b: 1 })).rejects.toThrow(ended);
    expect(servers.list()[0]).toMatchObject({
      state: "ended",
      problems: [expect.stringContaining("It has ended"), expect.anything()],
    });
    expect(await callText(servers, "other__ping")).toBe("pong");
  });

  it("takes no more tools than the limit", async () => {
    await using servers = await start({ one: odd("ping", "add"), two: odd("fail", "long") }, { tools: 3 });
    expect(servers.tools.map(({ name }) => name)).toEqual(["ping", "add", "fail"]);
    expect(servers.list()[1]?.problems).toEqual([
      "1 of its tools are left out: the limit is 3 of all servers together.",
    ]);
  });

  it("does not show a tool that the file disables", async () => {
    await using servers = await start({ odd: { ...odd("ping", "add"), disabledTools: ["ping"] } });
    expect(servers.tools.map(({ name }) => name)).toEqual(["add"]);
  });

  it("stops servers that are still starting", async () => {
    const file = {
      mcpServers: { silent: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] } },
    };
    const servers = new McpServers(parseMcpConfig(JSON.stringify(file), {}));
    expect(servers.list()[0]?.state).toBe("starting");
    await servers[Symbol.asyncDispose]();
    expect(servers.list()[0]?.state).toBe("stopped");
  });
});

describe("servers that are started one by one", () => {
  const read = (servers: object, limits: object = {}) =>
    parseMcpConfig(JSON.stringify({ mcpServers: servers, limits }), {});
  const states = (servers: McpServers) => servers.list().map(({ name, state }) => [name, state]);

  it("start none, then those that are asked for, until they are stopped", async () => {
    const config = read({ one: odd("ping"), two: odd("ping"), off: { ...odd(), disabled: true } });
    await using servers = new McpServers(config, { startsAll: false });
    await servers.started;
    expect(states(servers)).toEqual([
      ["one", "stopped"],
      ["two", "stopped"],
      ["off", "disabled"],
    ]);
    await expect(callText(servers, "ping")).rejects.toThrow('There is no tool "ping".');
    await Promise.all([servers.start("one"), servers.start("one"), servers.start("off")]);
    expect(states(servers).map(([, state]) => state)).toEqual(["ready", "stopped", "disabled"]);
    expect(await callText(servers, "ping")).toBe("pong");
    await servers.stop("one");
    await expect(callText(servers, "ping")).rejects.toThrow('There is no tool "ping".');
    await servers.start("one");
    expect(await callText(servers, "ping")).toBe("pong");
    await expect(servers.start("three")).rejects.toThrow('There is no MCP server "three".');
  });

  it("call a tool by its server, whatever other servers do to its name, and none that is hidden", async () => {
    const one = { ...odd("ping", "add"), disabledTools: ["add"] };
    await using servers = new McpServers(read({ one, two: odd("ping") }), { startsAll: false });
    await servers.start("one");
    expect(servers.tools.map(({ name }) => name)).toEqual(["ping"]);
    await servers.start("two");
    expect(servers.tools.map(({ name }) => name)).toEqual(["one__ping", "two__ping"]);
    const call = (tool: string) =>
      servers.callOnServer({ server: "one", tool, arguments: { a: 1, b: 1 } }, yes);
    expect(await call("ping")).toMatchObject({ content: [{ text: "pong" }] });
    await expect(call("add")).rejects.toThrow('There is no tool "add" of the MCP server "one".');
  });

  it("forget at a stop what is always allowed", async () => {
    await using servers = new McpServers(read({ one: odd("ping") }), { startsAll: false });
    await servers.start("one");
    await servers.call("ping", {}, { ask: answers("always") });
    expect(servers.list()[0]?.tools[0]?.isAllowed).toBe(true);
    await servers.stop("one");
    await servers.start("one");
    await expect(servers.call("ping", {}, { ask: answers("no") })).rejects.toThrow("did not allow");
  });

  it("run a running call no longer than the server", async () => {
    const file = path.join(folder, "stopped");
    await using servers = new McpServers(read({ one: odd("wait") }), { startsAll: false });
    await servers.start("one");
    const call = servers.call("wait", { file }, yes);
    const ended = expect(call).rejects.toThrow('The MCP server "one" failed');
    await expect.poll(() => readFile(file, "utf8").catch(() => "")).toBe("called\n");
    await servers.stop("one");
    await ended;
  });

  it("follow changes of the file: a running server keeps its entry until it is stopped", async () => {
    await using servers = new McpServers(read({ one: odd("ping"), two: odd("fail") }), { startsAll: false });
    await servers.start("one");
    servers.update(read({ two: { command: "no-such-program" }, three: odd("add") }));
    expect(states(servers)).toEqual([
      ["two", "stopped"],
      ["three", "stopped"],
      ["one", "ready"],
    ]);
    await servers.start("two");
    servers.update(read({ one: odd("add"), two: odd("fail") }));
    expect(states(servers)).toEqual([
      ["one", "ready"],
      ["two", "failed"],
    ]);
    expect(servers.tools.map(({ name }) => name)).toEqual(["ping"]);
    await Promise.all([servers.stop("one"), servers.stop("two")]);
    servers.update(read({ one: odd("add"), two: odd("fail") }, { tools: 1 }));
    await Promise.all([servers.start("one"), servers.start("two")]);
    expect(servers.tools.map(({ name }) => name)).toEqual(["add"]);
    expect(servers.list()[1]).toMatchObject({
      state: "ready",
      problems: [expect.stringContaining("the limit is 1")],
    });
  });

  it("can be started again after they have ended", async () => {
    await using servers = new McpServers(read({ one: odd("crash", "ping") }), { startsAll: false });
    await servers.start("one");
    await expect(callText(servers, "crash")).rejects.toThrow("has ended");
    expect(states(servers)).toEqual([["one", "ended"]]);
    await servers.start("one");
    expect(states(servers)).toEqual([["one", "ready"]]);
    expect(await callText(servers, "ping")).toBe("pong");
  });
});

describe("a session over HTTP", () => {
  it("is ended with its server", async () => {
    await using http = await sessionServer();
    const servers = await start({ odd: { url: http.url, headers: { "x-key": "secret" } } });
    expect(await callText(servers, "ping")).toBe("pong");
    expect(http.deletions).toEqual([]);
    await servers[Symbol.asyncDispose]();
    expect(http.deletions).toMatchObject([{ "mcp-session-id": "a-session", "x-key": "secret" }]);
  });

  it("holds nobody up whose server does not answer", async () => {
    await using http = await sessionServer({ isSilent: true });
    const servers = await start({ odd: { url: http.url } });
    const before = performance.now();
    await servers[Symbol.asyncDispose]();
    expect(http.deletions).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(4_000);
  });
});

it("follows a redirect to no other origin: headers may be secrets", async () => {
  await using target = await oddHttpServer();
  const redirecting = createServer((_request, response) =>
    response.writeHead(307, { location: target.url }).end(),
  );
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = redirecting.address() as AddressInfo;
    await using servers = await start({
      odd: { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-key": "secret" } },
    });
    expect(servers.list()).toMatchObject([
      { state: "failed", problems: [expect.stringMatching(/redirect/)] },
    ]);
    expect(target.headers).toEqual([]);
  } finally {
    redirecting.closeAllConnections();
    redirecting.close();
  }
});

it("gives a server's process its own variables and the usual ones, and none of this process's others", async () => {
  process.env["INGLE_API_KEYS"] = "a secret of this test";
  try {
    await using servers = await start({ odd: { ...odd("variables"), env: { LEVEL: "1" } } });
    const names = (await callText(servers, "variables")).split(" ");
    expect(names).toContain("LEVEL");
    expect(names).toContain("PATH");
    expect(names).not.toContain("INGLE_API_KEYS");
  } finally {
    delete process.env["INGLE_API_KEYS"];
  }
});
