#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 renders chat templates in JavaScript, and differs from Jinja2 3.1 (in brackets) where a template prints or
# compares values: lists and objects come as JSON (Python's form), booleans in lower case (True), a remainder has the sign of the
# dividend (2), '1' == 1 (False), large integers lose digits (all digits), a title's letter after an apostrophe is a capital (They're),
# 1e3 does not parse (1000.0), and a field of a missing field is empty (an error).
# Seen on 2026-11-28 with Node 20; Jinja2's values with Debian's python3-jinja2 3.1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/jinja@0.5.11
cat >run.js <<'JS'
import { Template } from "@huggingface/jinja";
for (const source of [
  "{{ ['a', {'k': none}] }}",
  "{{ 1 == 1.0 }}",
  "{{ -7 % 3 }}",
  "{{ '1' == 1 }}",
  "{{ 10000000000000000001 }}",
  "{{ \"they're\"|title }}",
  "{{ 1e3 }}",
  "{{ missing.field.name }}",
]) {
  let text;
  try {
    text = new Template(source).render({ missing: {} });
  } catch (error) {
    text = error.constructor.name;
  }
  console.log(source, "->", text);
}
JS
diff <(node run.js) - <<'OUTPUT'
{{ ['a', {'k': none}] }} -> ["a", {"k": null}]
{{ 1 == 1.0 }} -> true
{{ -7 % 3 }} -> -1
{{ '1' == 1 }} -> true
{{ 10000000000000000001 }} -> 10000000000000000000
{{ "they're"|title }} -> They'Re
{{ 1e3 }} -> Error
{{ missing.field.name }} -> 
OUTPUT
echo "As described."
