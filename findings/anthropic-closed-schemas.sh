#!/usr/bin/env bash
# The helpers of the client @anthropic-ai/sdk 1.14.0 rewrite a schema for structured outputs, and close every object, also one whose
# fields are not named. A z.record() becomes an object that may only be empty: a server that enforces the schema can write nothing but
# {}, and the client's own parser takes that for a valid record. With an enum as its keys, the fields are required and forbidden at
# once. Of `allOf`, each part is closed alone and forbids the fields of the others, and `definitions` become text of the description,
# so that references lead nowhere. There is no error or warning (a tuple does raise one, and OpenAI's helper raises one for records).
# In brackets below: does ajv 8.20.0 accept the value with the schema as it was written, and with the one that is sent.
# Seen on 2026-11-28 with Node 20 and zod 4.6.7.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @anthropic-ai/sdk@1.14.0 zod@4.6.7 ajv@8.20.0
cat >run.js <<'JS'
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
function accepts(schema, value) {
  try {
    return new Ajv2020({ strict: false }).validate(schema, value);
  } catch (error) {
    return error.constructor.name;
  }
}
const object = (properties, rest) => ({ type: "object", properties, ...rest });
const text = { type: "string" };
const scores = z.object({ scores: z.record(z.string(), z.number()) });
const axes = z.object({ axes: z.record(z.enum(["x", "y"]), z.number()) });
const allOf = object({}, { allOf: [object({ a: text }), object({ b: text })] });
const definitions = object({ a: { $ref: "#/definitions/name" } }, { definitions: { name: text } });
for (const [name, written, sent, values] of [
  ["record", z.toJSONSchema(scores), zodOutputFormat(scores).schema, [{ scores: { Ada: 1 } }, { scores: {} }]],
  ["enum record", z.toJSONSchema(axes), zodOutputFormat(axes).schema, [{ axes: { x: 1, y: 2 } }, { axes: {} }]],
  ["allOf", allOf, jsonSchemaOutputFormat(allOf).schema, [{ a: "1", b: "2" }, { a: "1" }]],
  ["definitions", definitions, jsonSchemaOutputFormat(definitions).schema, [{ a: "1" }]],
])
  for (const value of values) console.log(name, JSON.stringify(value), [accepts(written, value), accepts(sent, value)]);
console.log("parsed:", JSON.stringify(zodOutputFormat(scores).parse('{"scores":{}}')));
try {
  zodOutputFormat(z.object({ pair: z.tuple([z.string(), z.number()]) }));
} catch (error) {
  console.log("tuple:", error.constructor.name);
}
JS
diff <(node run.js) - <<'OUTPUT'
record {"scores":{"Ada":1}} [ true, false ]
record {"scores":{}} [ true, true ]
enum record {"axes":{"x":1,"y":2}} [ true, false ]
enum record {"axes":{}} [ false, false ]
allOf {"a":"1","b":"2"} [ true, false ]
allOf {"a":"1"} [ true, false ]
definitions {"a":"1"} [ true, 'MissingRefError' ]
parsed: {"scores":{}}
tuple: Error
OUTPUT
echo "As described."
