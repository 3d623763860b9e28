#!/usr/bin/env bash
# A server made with @modelcontextprotocol/sdk 1.32.2 lists tools whose parameters are a union, an intersection, a record or anything else
# that is no plain object as tools without parameters. A model that reads the list calls them with {}, and then the server validates the
# call with the whole schema and refuses it. Neither registerTool() nor its types object. (Such a schema for the output
# fails in another way: the first call is answered with a TypeError's text.) On the other side, the client @ai-sdk/mcp 1.0.102
# closes each list of parameters, also one that the server leaves open for fields of any name.
# Seen on 2026-11-28 with Node 20 and zod 4.6.7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 @ai-sdk/mcp@1.0.102 zod@4.6.7
cat >run.js <<'JS'
import { createMCPClient } from "@ai-sdk/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
const path = z.object({ path: z.string() });
const schemas = {
  object: path,
  union: z.union([path, z.object({ url: z.string() })]),
  intersection: z.intersection(path, z.object({ line: z.number() })),
  transform: path.transform(({ path }) => ({ path: path.trim() })),
  record: z.record(z.string(), z.string()),
  loose: z.looseObject({ path: z.string() }),
};
async function serve() {
  const server = new McpServer({ name: "s", version: "1" });
  const content = [{ type: "text", text: "Done." }];
  for (const [name, inputSchema] of Object.entries(schemas)) server.registerTool(name, { inputSchema }, () => ({ content }));
  const [transport, own] = InMemoryTransport.createLinkedPair();
  await server.connect(own);
  return transport;
}
const client = new Client({ name: "c", version: "1" });
await client.connect(await serve());
const other = await createMCPClient({ transport: await serve() });
const others = await other.tools();
for (const { name, inputSchema } of (await client.listTools()).tools) {
  const { isError } = await client.callTool({ name, arguments: {} });
  const closed = [inputSchema, others[name].inputSchema.jsonSchema].map((schema) => schema.additionalProperties === false);
  const names = Object.keys(inputSchema.properties).join() || "none";
  console.log(`${name}: parameters ${names}, {} is ${isError ? "refused" : "taken"},`, `closed ${closed[0]}, for @ai-sdk/mcp ${closed[1]}`);
}
await client.close();
await other.close();
JS
diff <(node run.js) - <<'OUTPUT'
object: parameters path, {} is refused, closed false, for @ai-sdk/mcp true
union: parameters none, {} is refused, closed false, for @ai-sdk/mcp true
intersection: parameters none, {} is refused, closed false, for @ai-sdk/mcp true
transform: parameters none, {} is refused, closed false, for @ai-sdk/mcp true
record: parameters none, {} is taken, closed false, for @ai-sdk/mcp true
loose: parameters path, {} is refused, closed false, for @ai-sdk/mcp true
OUTPUT
echo "As described."
