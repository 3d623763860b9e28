#!/usr/bin/env bash
# node-llama-cpp 3.22.1 turns a JSON schema into a grammar. Keywords that it does not know are not ignored in a harmless way:
#   - "format": "email" leaves only the empty string "",
#   - anyOf and allOf leave only null,
#   - an integer may be written as 1e-5, which is none, and "minimum" does not count,
#   - a property that is not required is always written.
# Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional node-llama-cpp@3.22.1
cat >run.js <<'JS'
import { getGbnfGrammarForGbnfJsonSchema as grammar } from "./node_modules/node-llama-cpp/dist/utils/gbnfJson/getGbnfGrammarForGbnfJsonSchema.js";
const email = grammar({ type: "string", format: "email" });
console.log("email:", /^string-0-0-rule ::= (.*)$/m.exec(email)?.[1]);
for (const keyword of ["anyOf", "allOf"])
  console.log(`${keyword}:`, /^null-rule ::= (.*)$/m.exec(grammar({ [keyword]: [{ type: "string" }] }))?.[1]);
console.log("minimum:", /^integer-number-rule ::= (.*)$/m.exec(grammar({ type: "integer", minimum: 10 }))?.[1]);
const object = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a"] };
console.log("optional:", grammar(object).includes('comma-whitespace-b-1-4-rule "\\"b\\""'));
JS
diff <(node run.js) - <<'OUTPUT'
email: "\"\""
anyOf: "null"
allOf: "null"
minimum: "-"? ("0" | [1-9] [0-9]{0,15}) ([eE] [-+]? ("0" | [1-9] [0-9]{0,15}))?
optional: true
OUTPUT
echo "As described."
