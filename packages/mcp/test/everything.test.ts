// The reference server of the protocol's authors, which is built with the SDK's first generation.
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { freePort } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AskUser } from "../src/approvals.ts";
import { parseMcpConfig } from "../src/mcp-config.ts";
import { McpServers } from "../src/mcp-servers.ts";

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const ask: AskUser = async () => "once";
const yes = { ask };

describe.each(["stdio", "streamableHttp"] as const)("server-everything over %s", (transport) => {
  let servers: McpServers;
  let process_: ChildProcess | undefined;
  beforeAll(async () => {
    const entry =
      transport === "stdio" ? { command: process.execPath, args: [program, "stdio"] } : await overHttp();
    servers = new McpServers(parseMcpConfig(JSON.stringify({ mcpServers: { everything: entry } }), {}));
    await servers.started;
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    process_?.kill();
  });

  async function overHttp(): Promise<{ url: string }> {
    const port = await freePort();
    process_ = spawn(process.execPath, [program, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await new Promise<void>((resolve) => process_?.stderr?.on("data", () => resolve()));
    return { url: `http://127.0.0.1:${port}/mcp` };
  }

  it("has tools that need nothing but arguments, and none that ask the user or the model for something", () => {
    expect(servers.list()).toMatchObject([{ state: "ready", problems: [] }]);
    const names = servers.tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["echo", "get-sum", "get-tiny-image", "get-structured-content"]),
    );
    expect(names.filter((name) => /sampling|elicit|roots/.test(name))).toEqual([]);
  });

  it("calls them", async () => {
    expect(await servers.call("echo", { message: "hello" }, yes)).toEqual({
      content: [{ type: "text", text: "Echo: hello" }],
      isError: false,
    });
    const { content } = await servers.call("get-tiny-image", {}, yes);
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    expect(await servers.call("echo", {}, yes)).toMatchObject({ isError: true });
  });

  it("cancels a long one", async () => {
    const signal = AbortSignal.timeout(200);
    const args = { duration: 60, steps: 2 };
    await expect(servers.call("trigger-long-running-operation", args, { ...yes, signal })).rejects.toThrow(
      "aborted due to timeout",
    );
    expect(await servers.call("get-sum", { a: 2, b: 3 }, yes)).toMatchObject({ isError: false });
  });
});
