#!/usr/bin/env bash
# @langchain/textsplitters 1.0.2 splits code by language. Each chunk is trimmed, so its first line loses its indentation and the
# lines after it keep theirs. In Python that is other code: below, a method's `return` seems to lie deeper than the loop before it. No
# option turns that off, keepSeparator included. The lines that the metadata gives are right. Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/textsplitters@1.0.2 @langchain/core@1.4.0
cat >run.js <<'JS'
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters";
const code = `class Cart:
    def total(self):
        total = 0
        for item in self.items:
            if item.price:
                total += item.price
        return total
`;
const lines = code.split("\n");
for (const keepSeparator of [true, false]) {
  const splitter = RecursiveCharacterTextSplitter.fromLanguage("python", { chunkSize: 60, chunkOverlap: 0, keepSeparator });
  for (const { metadata, pageContent } of await splitter.createDocuments([code])) {
    const { from, to } = metadata.loc.lines;
    const isWhole = pageContent === lines.slice(from - 1, to).join("\n");
    console.log(`keepSeparator ${keepSeparator}, lines ${from} to ${to}:`, isWhole ? "as written" : JSON.stringify(pageContent));
  }
}
JS
diff <(node run.js) - <<'OUTPUT'
keepSeparator true, lines 1 to 3: as written
keepSeparator true, lines 4 to 5: "for item in self.items:\n            if item.price:"
keepSeparator true, lines 6 to 7: "total += item.price\n        return total"
keepSeparator false, lines 1 to 3: as written
keepSeparator false, lines 4 to 5: "for item in self.items:\n            if item.price:"
keepSeparator false, lines 6 to 7: "total += item.price\n        return total"
OUTPUT
echo "As described."
