#!/bin/sh
# Plain curl with a running `ingle serve`. Run: sh examples/curl.sh
set -eu
url=${INGLE_URL:-http://127.0.0.1:1337}

echo "Models:"
models=$(curl --fail --silent --show-error "$url/v1/models")
echo "$models"
model=$(echo "$models" | sed 's/^[^[]*\[{"id":"\([^"]*\)".*/\1/') # the first id

printf '\nA complete reply:\n'
curl --fail --silent --show-error "$url/v1/chat/completions" \
  -H 'Content-Type: application/json' \
  -d '{"model": "'"$model"'", "max_tokens": 64, "messages": [{"role": "user", "content": "What is the capital of France?"}]}'

printf '\n\nA streamed reply:\n'
curl --fail --silent --show-error --no-buffer "$url/v1/chat/completions" \
  -H 'Content-Type: application/json' \
  -d '{"model": "'"$model"'", "max_tokens": 64, "stream": true, "messages": [{"role": "user", "content": "Count to five."}]}'
