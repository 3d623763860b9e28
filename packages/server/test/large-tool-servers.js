// An MCP server over pipes whose list of tools is as large as its argument says; it can also send one long line.
import { createInterface } from "node:readline";

const kind = process.argv[2];

const tool = (name) => ({ name, inputSchema: { type: "object", properties: { a: { type: "integer" } } } });
const many = (count, nameOf) => Array.from({ length: count }, (_, index) => tool(nameOf(index)));

const lists = {
  "20,000 tools of one name": () => ({ tools: many(20_000, () => "same") }),
  "50,000 tools": () => ({ tools: many(50_000, (index) => `tool${index}`) }),
  "pages without an end": ({ cursor = "0" }) => ({
    tools: many(5_000, (index) => `tool${cursor}_${index}`),
    nextCursor: String(Number(cursor) + 1),
  }),
  "a line of 60 MB": () => ({ tools: [], more: "y".repeat(60_000_000) }),
  "a line of nearly 8 MiB": () => ({ tools: [tool("only")], more: "y".repeat(8_380_000) }),
  "a list of 3,000,000 numbers": () => ({ tools: [], more: Array.from({ length: 3_000_000 }, () => 1) }),
  "500 tools of one name, and wrong ones": () => ({
    tools: [
      ...many(500, () => "same"),
      ...Array.from({ length: 500 }, () => ({
        ...tool("wrong"),
        inputSchema: { type: "object", properties: { place: { type: "town" } } },
      })),
    ],
  }),
};

const send = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    send(id, {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "large", version: "1.0.0" },
    });
  }
  if (method === "tools/list") send(id, lists[kind](params ?? {}));
});
