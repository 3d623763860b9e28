#!/usr/bin/env bash
# z.fromJSONSchema() of zod 4.6.7 turns a schema, such as that of a tool, into a zod schema. It raises an error for keywords that it does
# not support (not, if, dependentRequired, unevaluatedProperties), but of supported ones it drops several without a word: everything
# in a part without `type`, so also `anyOf` of `required`; fields that are required and not described; and what stands beside a $ref.
# In the other direction, an object or a list as a constant accepts nothing, itself included. In brackets below: does ajv 8.20.0 accept
# the value, and does zod. (zod calls the function experimental.) Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts zod@4.6.7 ajv@8.20.0
cat >run.js <<'JS'
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
const ajv = new Ajv2020({ strict: false });
const text = { type: "string" };
const object = (properties, rest) => ({ type: "object", properties, ...rest });
for (const [schema, value] of [
  [object({ path: text }, { required: ["path"] }), {}],
  [object({ path: text }, { anyOf: [{ required: ["path"] }, { required: ["url"] }] }), {}],
  [object({ path: text }, { allOf: [{ properties: { line: { type: "number" } } }] }), { line: "one" }],
  [object({ path: text }, { required: ["line"] }), { path: "a" }],
  [{ properties: { path: text } }, { path: 1 }],
  [{ minimum: 5 }, 3],
  [object({ path: { $ref: "#/$defs/text", maxLength: 1 } }, { $defs: { text } }), { path: "ab" }],
  [{ const: { path: "a" } }, { path: "a" }],
  [{ enum: [["a"], ["b"]] }, ["b"]],
])
  console.log(JSON.stringify(schema), JSON.stringify(value), [
    ajv.validate(schema, value),
    z.fromJSONSchema(schema).safeParse(value).success,
  ]);
for (const schema of [{ not: text }, { if: text, then: { minLength: 1 } }])
  try {
    z.fromJSONSchema(schema);
  } catch (error) {
    console.log(JSON.stringify(schema), error.constructor.name);
  }
JS
diff <(node run.js) - <<'OUTPUT'
{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]} {} [ false, false ]
{"type":"object","properties":{"path":{"type":"string"}},"anyOf":[{"required":["path"]},{"required":["url"]}]} {} [ false, true ]
{"type":"object","properties":{"path":{"type":"string"}},"allOf":[{"properties":{"line":{"type":"number"}}}]} {"line":"one"} [ false, true ]
{"type":"object","properties":{"path":{"type":"string"}},"required":["line"]} {"path":"a"} [ false, true ]
{"properties":{"path":{"type":"string"}}} {"path":1} [ false, true ]
{"minimum":5} 3 [ false, true ]
{"type":"object","properties":{"path":{"$ref":"#/$defs/text","maxLength":1}},"$defs":{"text":{"type":"string"}}} {"path":"ab"} [ false, true ]
{"const":{"path":"a"}} {"path":"a"} [ true, false ]
{"enum":[["a"],["b"]]} ["b"] [ true, false ]
{"not":{"type":"string"}} Error
{"if":{"type":"string"},"then":{"minLength":1}} Error
OUTPUT
echo "As described."
