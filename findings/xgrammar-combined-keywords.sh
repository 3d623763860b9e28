#!/usr/bin/env bash
# XGrammar compiles a schema whose keywords it does not enforce together, without an error: each text below is invalid for its schema
# (draft 2020-12) and is admitted to its end. Seen in @mlc-ai/web-xgrammar 0.1.27 on 2026-11-28 with Node 20.
#
# The package says "type": "module", but lib/index.js is written for require(): import fails in Node 20 with "require is not defined".
# The script therefore runs a copy named .cjs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @mlc-ai/web-xgrammar@0.1.27
cp node_modules/@mlc-ai/web-xgrammar/lib/index.js xgrammar.cjs
cat >run.js <<'JS'
import { createRequire } from "node:module";
const imported = await import("@mlc-ai/web-xgrammar").then(() => "works", (error) => error.message.split(" in ")[0]);
console.log("import:", imported);
const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = createRequire(import.meta.url)("./xgrammar.cjs");
const end = 128;
const characters = Array.from({ length: end }, (_, code) => String.fromCharCode(code));
const info = await TokenizerInfo.createTokenizerInfo([...characters, "</s>"], "raw", false, end + 1, [end]);
const compiler = await GrammarCompiler.createGrammarCompiler(info);
async function admits(schema, text) {
  const grammar = await compiler.compileJSONSchema(JSON.stringify(schema), false, -1, [",", ":"], true);
  const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
  return [...text].every((character) => matcher.acceptToken(character.charCodeAt(0))) && matcher.acceptToken(end);
}
const integer = { type: "integer" };
for (const [schema, text] of [
  [{ enum: [1, 2, 30], minimum: 10 }, "1"],
  [{ const: "a", minLength: 3 }, '"a"'],
  [{ $defs: { n: { type: "string" } }, $ref: "#/$defs/n", minLength: 5 }, '"a"'],
  [{ type: "string", format: "email", maxLength: 3 }, '"ab@c.de"'],
  [{ type: "number", multipleOf: 5 }, "3"],
  [{ type: "array", items: integer, uniqueItems: true }, "[1,1]"],
  [{ type: "object", properties: { a: {} }, dependentRequired: { a: ["b"] } }, '{"a":1}'],
  [{ if: integer, then: { minimum: 5 } }, "1"],
  [{ type: "integer", minimum: 10 }, "1"],
  [{ type: "array", items: integer, minItems: 2 }, "[1]"],
])
  console.log(JSON.stringify(schema), text, (await admits(schema, text)) ? "admitted" : "refused");
JS
diff <(node run.js 2>/dev/null) - <<'OUTPUT'
import: require is not defined
{"enum":[1,2,30],"minimum":10} 1 admitted
{"const":"a","minLength":3} "a" admitted
{"$defs":{"n":{"type":"string"}},"$ref":"#/$defs/n","minLength":5} "a" admitted
{"type":"string","format":"email","maxLength":3} "ab@c.de" admitted
{"type":"number","multipleOf":5} 3 admitted
{"type":"array","items":{"type":"integer"},"uniqueItems":true} [1,1] admitted
{"type":"object","properties":{"a":{}},"dependentRequired":{"a":["b"]}} {"a":1} admitted
{"if":{"type":"integer"},"then":{"minimum":5}} 1 admitted
{"type":"integer","minimum":10} 1 refused
{"type":"array","items":{"type":"integer"},"minItems":2} [1] refused
OUTPUT
echo "As described."
