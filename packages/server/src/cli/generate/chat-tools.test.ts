// `ingle chat` with a real MCP server's process. The model's replies are scripted.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld, type TestWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const everything = { command: process.execPath, args: [program, "stdio"] };

let home: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-chat-tools-"));
});
afterAll(async () => {
  await rm(home, { recursive: true });
});

/** Writes the file and returns its path. */
async function config(entry: object, { folder = home, limits = {} } = {}): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "mcp.json");
  await writeFile(file, JSON.stringify({ mcpServers: { everything: entry }, limits }));
  return file;
}

const sum = (a: number, b: number) => [{ id: "", name: "get-sum", arguments: JSON.stringify({ a, b }) }];

/** Replies in turn; a list is one of calls. */
function callingEngine(...replies: readonly (string | object[])[]) {
  return scriptedEngine({
    pieces: (reply) => [JSON.stringify(replies[reply - 1] ?? "Done.")],
    reply: (text) => {
      const written: unknown = JSON.parse(text);
      if (typeof written === "string") return { content: written, reasoning: "", calls: [] };
      return { content: "", reasoning: "", calls: JSON.parse(text) };
    },
  });
}

/** Starts the chat on a terminal and waits for its prompt. */
async function chat(
  file: string,
  ...replies: (string | object[])[]
): Promise<TestWorld & { ended: Promise<number> }> {
  const world = testWorld({ engine: callingEngine(...replies), isTTY: true });
  const ended = main("ingle", ["chat", "--mcp", file], world.context);
  await world.outHas("> ");
  return { ...world, ended };
}

describe("a call in the chat", () => {
  it("runs after a yes, and its result goes to the model", async () => {
    const file = await config(everything);
    const { stdin, out, err, outHas, ended } = await chat(file, sum(2, 3), "It is 5.");
    expect(err()).toMatch(/Tools: \d+ of everything\. \/tools lists them\./);
    stdin.write("Add them.\r");
    await outHas("Run get-sum of everything? [y]es, [n]o, [a]lways in this chat: ");
    expect(err()).toContain('Call of get-sum: {"a":2,"b":3}\n');
    expect(err()).not.toContain("It returned");
    // Only what answers the question is an answer.
    stdin.write("perhaps\r");
    await expect.poll(() => out().match(/Run get-sum/g)).toHaveLength(2);
    stdin.write("y\r");
    await outHas("It is 5.");
    expect(err()).toMatch(/It returned \d\d characters\.\n/);
    stdin.write("/exit\r");
    expect(await ended).toBe(0);
  });

  it("does not run after a no: the model is told, and the server is asked nothing", async () => {
    const file = await config(everything);
    const { stdin, err, outHas, ended } = await chat(file, sum(2, 3), "Then not.");
    stdin.write("Add them.\r");
    await outHas("Run get-sum");
    stdin.write("n\r");
    await outHas("Then not.");
    expect(err()).toContain("The user did not allow this call.");
    expect(err()).not.toContain("It returned");
    stdin.write("/exit\r");
    await ended;
  });

  it("is asked for no more after `always`, which /tools shows", async () => {
    const file = await config(everything);
    const { stdin, out, err, outHas, errHas, ended } = await chat(
      file,
      sum(1, 1),
      sum(2, 2),
      "Both are done.",
    );
    stdin.write("Add them.\r");
    await outHas("Run get-sum");
    stdin.write("a\r");
    await outHas("Both are done.");
    expect(out().match(/Run get-sum/g)).toHaveLength(1);
    expect(err().match(/It returned/g)).toHaveLength(2);
    stdin.write("/tools\r");
    await errHas("everything: ready\n");
    expect(err()).toMatch(/ {2}get-sum +allowed\n/);
    expect(err()).toMatch(/ {2}echo +asks first\n/);
    stdin.write("/exit\r");
    await ended;
  });

  it("ends with the reply at Ctrl-C, while it is asked for", async () => {
    const file = await config(everything);
    const { stdin, err, outHas, errHas, ended } = await chat(file, sum(2, 3));
    stdin.write("Add them.\r");
    await outHas("Run get-sum");
    stdin.write("\u0003");
    await errHas("(stopped before it began; this message is forgotten)");
    expect(err()).not.toContain("It returned");
    stdin.write("/exit\r");
    expect(await ended).toBe(0);
  });

  it("shows no character that could move the cursor", async () => {
    const file = await config(everything);
    const tricky = [{ id: "", name: "echo", arguments: JSON.stringify({ message: "\u009b2K\u202eabc" }) }];
    const { stdin, err, outHas, ended } = await chat(file, tricky);
    stdin.write("Say it.\r");
    await outHas("Run echo");
    expect(err()).toContain(String.raw`Call of echo: {"message":"\u{9b}2K\u{202e}abc"}`);
    stdin.write("n\r");
    await outHas("Done.");
    stdin.write("/exit\r");
    await ended;
  });
});

describe("a chat through a pipe", () => {
  async function piped(entry: object): Promise<TestWorld> {
    const world = testWorld({ engine: callingEngine(sum(2, 3), "The end.") });
    world.stdin.end("Add them.\ny\n");
    expect(await main("ingle", ["chat", "--mcp", await config(entry)], world.context)).toBe(0);
    return world;
  }

  it("runs no call, because nobody can be asked: the next line is a message", async () => {
    const { out, err } = await piped(everything);
    expect(err()).toContain("Nobody can be asked here. A rule in mcp.json can allow a tool.\n");
    expect(err()).not.toContain("It returned");
    expect(out()).toBe("The end.\nDone.\n");
  });

  it("runs what a rule of the file allows", async () => {
    const { err } = await piped({ ...everything, alwaysAllow: ["get-sum"] });
    expect(err()).toMatch(/It returned \d\d characters\.\n/);
  });
});

describe("the file of a chat", () => {
  /** What the chat without --mcp has written when it ends. */
  async function runChat(env: NodeJS.ProcessEnv, ...args: string[]): Promise<[code: number, err: string]> {
    const world = testWorld({ engine: callingEngine(), env });
    world.stdin.end("/tools\n");
    const code = await main("ingle", ["chat", ...args], world.context);
    return [code, world.err()];
  }

  it("is mcp.json in the config folder, unless another is named, or none", async () => {
    const folder = path.join(home, "own");
    expect(await runChat({ INGLE_HOME: folder })).toEqual([
      0,
      expect.stringContaining("There are no tools."),
    ]);
    await config(everything, { folder: path.join(folder, "config") });
    expect(await runChat({ INGLE_HOME: folder })).toEqual([0, expect.stringContaining("everything: ready")]);
    const none = await runChat({ INGLE_HOME: folder }, "--mcp", "none");
    expect(none).toEqual([0, expect.stringContaining("There are no tools.")]);
    expect(none[1]).not.toContain("Starting");
    expect(await runChat({ INGLE_HOME: folder, INGLE_MCP: "none" })).toEqual(none);
  });

  it("has to be there and correct if it is named", async () => {
    const missing = path.join(home, "missing.json");
    expect(await runChat({}, "--mcp", missing)).toEqual([
      2,
      expect.stringContaining(`${missing}: There is no such file. Correct the file, or use "--mcp none"`),
    ]);
    const wrong = path.join(home, "wrong.json");
    await writeFile(wrong, "{");
    expect(await runChat({}, "--mcp", wrong)).toEqual([2, expect.stringContaining("It is not JSON")]);
  });

  it("may name a server that fails: the chat says why and goes on", async () => {
    const file = await config({ command: "no-such-program" });
    const [code, err] = await runChat({}, "--mcp", file);
    expect(code).toBe(0);
    expect(err).toContain(
      "MCP server everything: It cannot be started: there is no program no-such-program.\n",
    );
    expect(err).toContain("The chat goes on without it.\n");
  });
});

it("ends the servers' processes with the chat", async () => {
  const pidFile = path.join(home, "pid");
  const script = `require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); import(${JSON.stringify(program)})`;
  const file = await config({ command: process.execPath, args: ["-e", script, "stdio"] });
  const { stdin, ended } = await chat(file);
  const pid = Number(await readFile(pidFile, "utf8"));
  expect(() => process.kill(pid, 0)).not.toThrow();
  stdin.write("/exit\r");
  await ended;
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
