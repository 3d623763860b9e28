import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { McpConfigError, parseMcpConfig, readMcpConfig } from "./mcp-config.ts";

function parse(file: unknown, env: NodeJS.ProcessEnv = {}) {
  return parseMcpConfig(JSON.stringify(file), env);
}

const entry = (written: unknown, env?: NodeJS.ProcessEnv) =>
  parse({ mcpServers: { one: written } }, env).servers[0];

it("reads the entries that Claude Desktop, LM Studio and Cursor have", () => {
  const { servers, limits } = parse({
    mcpServers: {
      files: { command: "npx", args: ["-y", "server-files", "/home/me"], env: { LEVEL: "1" } },
      hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer abc" }, type: "http" },
    },
    inputs: [{ of: "another program" }],
  });
  expect(servers.map(({ name, target }) => [name, target])).toEqual([
    [
      "files",
      {
        kind: "stdio",
        command: "npx",
        args: ["-y", "server-files", "/home/me"],
        env: { LEVEL: "1" },
        cwd: undefined,
      },
    ],
    ["hub", { kind: "http", url: "https://hub.example/mcp", headers: { Authorization: "Bearer abc" } }],
  ]);
  expect(limits).toMatchObject({ tools: 128, callMs: 120_000 });
});

it("accepts a byte order mark", () => {
  expect(parseMcpConfig('\uFEFF{"mcpServers":{}}', {}).servers).toEqual([]);
});

it("replaces variables of the environment, as Claude Code and Cursor write them", () => {
  const written = {
    command: "${HOME}/bin/server",
    args: ["--as", "${NAME:-nobody}", "$HOME"],
    env: { TOKEN: "${env:HUB_TOKEN}" },
  };
  expect(entry(written, { HOME: "/home/me", HUB_TOKEN: "abc" })?.target).toEqual({
    kind: "stdio",
    command: "/home/me/bin/server",
    args: ["--as", "nobody", "$HOME"],
    env: { TOKEN: "abc" },
    cwd: undefined,
  });
});

it.each([
  [{ args: ["x"] }, "it needs either a command or a url"],
  [{ command: "a", url: "http://a" }, "it needs either a command or a url"],
  [{ url: "file:///etc/passwd" }, "its url is not an http or https URL"],
  [{ url: "https://a.example/sse", type: "sse" }, "the old SSE transport is not supported"],
  [{ command: "a", env: { TOKEN: "${NO_SUCH}" } }, "the environment variable NO_SUCH is not set"],
  [{ command: 5 }, "command: "],
  ["npx", "expected object"],
])("reports a wrong entry as that server's problem: %j", (written, problem) => {
  expect(entry(written)?.target).toMatchObject({
    kind: "invalid",
    problem: expect.stringContaining(problem),
  });
});

it("allows tools by their names or all of them, and hides some", () => {
  const named = entry({
    command: "a",
    alwaysAllow: ["read"],
    autoApprove: ["list"],
    disabledTools: ["write"],
  });
  expect(["read", "list", "write", "*"].map((tool) => named?.allows(tool))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(["read", "write"].map((tool) => named?.offers(tool))).toEqual([true, false]);
  expect(entry({ command: "a", alwaysAllow: ["*"] })?.allows("anything")).toBe(true);
  expect(entry({ command: "a" })?.allows("anything")).toBe(false);
});

it.each([
  ["{", "It is not JSON"],
  ['{"servers": {}}', "mcpServers: "],
  ['{"mcpServers": {}, "limits": {"callMs": 0}}', "limits.callMs: "],
  ['{"mcpServers": {}, "limits": {"calls": 5}}', "limits: "],
  [
    JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, {}])) }),
    "64 servers",
  ],
])("refuses a file that says nothing usable: %s", (text, message) => {
  const read = () => parseMcpConfig(text, {});
  expect(read).toThrow(McpConfigError);
  expect(read).toThrow(message);
});

it("names the file that it cannot use, and says whether it is missing", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-mcp-config-"));
  try {
    const file = path.join(folder, "mcp.json");
    await expect(readMcpConfig(file, {})).rejects.toMatchObject({
      isMissing: true,
      message: `${file}: There is no such file.`,
    });
    await writeFile(file, "[]");
    await expect(readMcpConfig(file, {})).rejects.toMatchObject({
      isMissing: false,
      message: expect.stringContaining(`${file}: `),
    });
    await writeFile(file, " ".repeat(1024 * 1024 + 1));
    await expect(readMcpConfig(file, {})).rejects.toThrow("more than 1048576 bytes");
    await writeFile(file, '{"mcpServers": {"one": {"command": "a"}}}');
    expect((await readMcpConfig(file, {})).servers).toMatchObject([{ name: "one" }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
