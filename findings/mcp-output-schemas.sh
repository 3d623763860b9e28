#!/usr/bin/env bash
# In @modelcontextprotocol/sdk 1.32.2, a server and a client of the same package read a tool's output schema in two ways. The server
# checks the result with zod, which allows further fields and fills defaults in; but it sends the result as it was before, with a schema
# that forbids further fields and requires those with defaults. So its own client, which has listed the tools, refuses the
# result. A client that has not listed them takes it. Seen on 2026-11-28 with Node 20 and zod 4.6.7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 zod@4.6.7
cat >run.js <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
const results = { exact: { celsius: 7, sky: "grey" }, further: { celsius: 7, sky: "grey", wind: 3 }, default: { celsius: 7 } };
const outputSchema = { celsius: z.number(), sky: z.string().default("clear") };
for (const isListed of [false, true]) {
  const server = new McpServer({ name: "s", version: "1" });
  for (const [name, structuredContent] of Object.entries(results))
    server.registerTool(name, { outputSchema }, () => ({ structuredContent, content: [] }));
  const [transport, own] = InMemoryTransport.createLinkedPair();
  await server.connect(own);
  const client = new Client({ name: "c", version: "1" });
  await client.connect(transport);
  if (isListed) await client.listTools();
  for (const name of Object.keys(results)) {
    const end = await client.callTool({ name }).then(
      ({ isError, structuredContent }) => (isError ? "refused by the server" : JSON.stringify(structuredContent)),
      ({ message }) => `refused by the client: ${message.split(": ").slice(2).join(": ")}`,
    );
    console.log(isListed ? "listed" : "not listed", `${name}:`, end);
  }
  await client.close();
}
JS
diff <(node run.js) - <<'OUTPUT'
not listed exact: {"celsius":7,"sky":"grey"}
not listed further: {"celsius":7,"sky":"grey","wind":3}
not listed default: {"celsius":7}
listed exact: {"celsius":7,"sky":"grey"}
listed further: refused by the client: data must NOT have additional properties
listed default: refused by the client: data must have required property 'sky'
OUTPUT
echo "As described."
