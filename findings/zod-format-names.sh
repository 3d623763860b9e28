#!/usr/bin/env bash
# z.toJSONSchema() of zod 4.6.7 writes the names of its own checks as formats. They are no formats of JSON Schema, so ajv 8.20.0 with
# ajv-formats 3.0.1 refuses to compile the schema by default: "unknown format". Whoever lets a model fill such a schema and validates
# the reply with ajv gets an error that is not about the reply. Of startsWith() and endsWith() together, the last one names the format.
# Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts zod@4.6.7 ajv@8.20.0 ajv-formats@3.0.1
cat >run.js <<'JS'
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { z } from "zod";
const ajv = new Ajv2020();
formats.default(ajv);
for (const [name, schema] of Object.entries({
  email: z.email(),
  lowercase: z.string().lowercase(),
  both: z.string().startsWith("a").endsWith("b"),
  e164: z.e164(),
  cuid2: z.cuid2(),
})) {
  const json = z.toJSONSchema(schema);
  let compiled = "compiles";
  try {
    ajv.compile(json);
  } catch (error) {
    compiled = error.message.split(" ignored")[0];
  }
  console.log(name, json.format, compiled);
}
JS
diff <(node run.js) - <<'OUTPUT'
email email compiles
lowercase lowercase unknown format "lowercase"
both ends_with unknown format "ends_with"
e164 e164 unknown format "e164"
cuid2 cuid2 unknown format "cuid2"
OUTPUT
echo "As described."
