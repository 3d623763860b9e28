// What a tool server sends is bounded before it is worked on, so that the app's event loop is never blocked for long.
import { fileURLToPath } from "node:url";
import { McpServers, parseMcpConfig } from "@ingle/mcp";
import { expect, it } from "vitest";
import { longestBlock, memoryMs, slowness } from "./worst-bodies.ts";

/** Milliseconds on an idle machine, as for request bodies. */
const blockMsMax = 50;
const messageBytesMax = 8 * 1024 * 1024;
/** A message is held twice while it is read: in pieces and as a whole. */
const copies = 2;
const program = fileURLToPath(new URL("large-tool-servers.js", import.meta.url));

function makeServers(kind: string): McpServers {
  const large = { command: process.execPath, args: [program, kind] };
  return new McpServers(parseMcpConfig(JSON.stringify({ mcpServers: { large } }), {}));
}

/** What has to be done once, such as reading the SDK's schemas, is not what a server can ask for. */
async function warmUp(): Promise<void> {
  await using servers = makeServers("a line of nearly 8 MiB");
  await servers.started;
}

const tooManyValues = "It was stopped: it sent a message of more than 100000 values.";

it.each([
  { kind: "20,000 tools of one name", tools: 0, problems: [tooManyValues] },
  { kind: "50,000 tools", tools: 0, problems: [tooManyValues] },
  { kind: "a list of 3,000,000 numbers", tools: 0, problems: [tooManyValues] },
  {
    kind: "a line of 60 MB",
    tools: 0,
    problems: ["It was stopped: it sent a message of more than 8388608 bytes."],
  },
  { kind: "a line of nearly 8 MiB", tools: 1, problems: [] },
  { kind: "pages without an end", tools: 0, problems: [expect.stringMatching(/^It failed: .*pagination/)] },
  {
    kind: "500 tools of one name, and wrong ones",
    tools: 128,
    problems: ["872 more of its tools are left out: the limit is 128."],
  },
])("$kind do not block the event loop", { timeout: 120_000 }, async ({ kind, tools, problems }) => {
  await warmUp();
  const bound = blockMsMax * slowness() + memoryMs(copies * messageBytesMax);
  await using servers = makeServers(kind);
  const blocked = await longestBlock(() => servers.started);
  const [view] = servers.list();
  expect(view?.problems).toEqual(problems);
  expect(view?.tools).toHaveLength(tools);
  expect(blocked).toBeLessThan(bound);
});
