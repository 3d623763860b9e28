#!/usr/bin/env bash
# @huggingface/tokenizers 0.2.0 reads the tokenizer.json of a model in JavaScript, and splits text in another way than the reference in
# Rust (here as @anush008/tokenizers 0.6.0), so that a model sees other tokens. There is no error. Of a split at a text, only the
# behavior Isolated works (at a regular expression, Removed too); with `invert`, the text between the matches is lost. Punctuation is
# always isolated, and Metaspace never splits. Whitespace cuts words at letters outside ASCII. Of an added token, single_word is
# ignored; so is the file's truncation, which models for embeddings bring.
# Each vocabulary below holds every part of the text, and merges are ignored, so the tokens are the pieces that the text was split into.
# Seen on 2026-11-28 with Node 20 on Linux.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/tokenizers@0.2.0 @anush008/tokenizers@0.6.0
cat >run.js <<'JS'
import { Tokenizer as Reference } from "@anush008/tokenizers";
import { Tokenizer } from "@huggingface/tokenizers";
const text = "Hi, naïve ones";
const marked = text.replaceAll(" ", "▁");
const parts = new Set([text, marked, `▁${marked}`].flatMap((t) => [...t].flatMap((_, i) => [...t].map((_, j) => t.slice(i, j + 1)))));
parts.delete("");
const vocab = Object.fromEntries([...parts].map((part, id) => [part, id]));
const split = (pattern, behavior, invert = false) => ({ pre_tokenizer: { type: "Split", pattern, behavior, invert } });
const String = " ";
const Regex = " ";
const one = { id: vocab.one, content: "one", single_word: true, lstrip: false, rstrip: false, normalized: false, special: false };
for (const [name, fields] of Object.entries({
  "Split, Isolated": split({ String }, "Isolated"),
  "Split, Removed": split({ String }, "Removed"),
  "Split, MergedWithPrevious": split({ String }, "MergedWithPrevious"),
  "Split, MergedWithNext": split({ String }, "MergedWithNext"),
  "Split, Isolated, invert": split({ String }, "Isolated", true),
  "Split, Regex, Removed": split({ Regex }, "Removed"),
  "Split, Regex, MergedWithPrevious": split({ Regex }, "MergedWithPrevious"),
  "Split, Regex, Isolated, invert": split({ Regex }, "Isolated", true),
  "Punctuation, Isolated": { pre_tokenizer: { type: "Punctuation", behavior: "Isolated" } },
  "Punctuation, MergedWithPrevious": { pre_tokenizer: { type: "Punctuation", behavior: "MergedWithPrevious" } },
  Metaspace: { pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true } },
  Whitespace: { pre_tokenizer: { type: "Whitespace" } },
  "added token, single_word": { added_tokens: [one] },
  truncation: {
    pre_tokenizer: { type: "WhitespaceSplit" },
    truncation: { direction: "Right", max_length: 2, strategy: "LongestFirst", stride: 0 },
  },
})) {
  const file = JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    model: { type: "BPE", vocab, merges: [], ignore_merges: true, fuse_unk: false, byte_fallback: false },
    ...fields,
  });
  const expected = (await Reference.fromString(file).encode(text)).getTokens();
  const { tokens } = new Tokenizer(JSON.parse(file), {}).encode(text);
  const isSame = JSON.stringify(tokens) === JSON.stringify(expected);
  console.log(`${name}: ${expected.join("|")}`, isSame ? "(same)" : `but ${tokens.join("|")}`);
}
JS
diff <(node run.js) - <<'OUTPUT'
Split, Isolated: Hi,| |naïve| |ones (same)
Split, Removed: Hi,|naïve|ones but Hi,| |naïve| |ones
Split, MergedWithPrevious: Hi, |naïve |ones but Hi,| |naïve| |ones
Split, MergedWithNext: Hi,| naïve| ones but Hi,| |naïve| |ones
Split, Isolated, invert: Hi,| |naïve| |ones but  | 
Split, Regex, Removed: Hi,|naïve|ones (same)
Split, Regex, MergedWithPrevious: Hi, |naïve |ones but Hi,| |naïve| |ones
Split, Regex, Isolated, invert: Hi,| |naïve| |ones but  | 
Punctuation, Isolated: Hi|,| naïve ones (same)
Punctuation, MergedWithPrevious: Hi,| naïve ones but Hi|,| naïve ones
Metaspace: ▁Hi,|▁naïve|▁ones but ▁Hi,▁naïve▁ones
Whitespace: Hi|,|naïve|ones but Hi|,|na|ï|ve|ones
added token, single_word: Hi, naïve ones but Hi, naïve |one|s
truncation: Hi,|naïve but Hi,|naïve|ones
OUTPUT
echo "As described."
