#!/usr/bin/env bash
# parseGGUFQuantLabel() of @huggingface/gguf 0.4.6 (@huggingface/tasks 0.21.54) looks in a GGUF file's name for one of the quantizations that llama.cpp numbers, with
# letters after it, wherever it begins, and does not ask where the name ends. So Q6_K_L is found, because there is a Q6_K, but Q4_K_L and
# Q5_K_L, which hubs are as full of, give undefined. And Q4_0_4_8 gives Q4_0, although the library's own list has Q4_0_4_8, and Q6_K_R4 gives
# Q6_K_R, which nothing is. A list of files that is grouped by this label loses some of them and merges others.
# Seen on 2026-11-28 with Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/gguf@0.4.6 @huggingface/tasks@0.21.54
cat >run.js <<'JS'
import { GGMLFileQuantizationType, parseGGUFQuantLabel } from "@huggingface/gguf";
for (const label of ["Q4_K_M", "UD-Q4_K_XL", "Q6_K_L", "Q4_K_L", "Q5_K_L", "Q4_0_4_8", "Q6_K_R4"])
  console.log(label, parseGGUFQuantLabel(`some-model-${label}.gguf`), label in GGMLFileQuantizationType);
JS
node run.js | tee output
diff output - <<'EXPECTED'
Q4_K_M Q4_K_M true
UD-Q4_K_XL UD-Q4_K_XL false
Q6_K_L Q6_K_L false
Q4_K_L undefined false
Q5_K_L undefined false
Q4_0_4_8 Q4_0 true
Q6_K_R4 Q6_K_R false
EXPECTED
