#!/usr/bin/env bash
# The official MCP client for Node joins everything that it has read of a message with each piece that arrives. A message of 9 MiB over
# pipes, in pieces of 64 KiB, is copied 73 times over, which blocks the event loop meanwhile. Its limit of 10 MiB allows it.
# Seen in @modelcontextprotocol/client 2.4.0 on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/client@2.4.0
cat >run.js <<'JS'
import { ReadBuffer } from "@modelcontextprotocol/client";
let copied = 0;
const concat = Buffer.concat;
Buffer.concat = (list, length) => {
  const joined = concat(list, length);
  copied += joined.length;
  return joined;
};
const size = 9 * 1024 * 1024;
const message = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", method: "note", params: { text: "y".repeat(size) } })}\n`);
const buffer = new ReadBuffer();
for (let start = 0; start < message.length; start += 65_536) buffer.append(message.subarray(start, start + 65_536));
console.log(buffer.readMessage().params.text.length === size, Math.round(copied / message.length));
JS
diff <(node run.js) - <<'OUTPUT'
true 73
OUTPUT
echo "As described."
