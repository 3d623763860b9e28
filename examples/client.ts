// Ingle's own client against a running `ingle serve`. Run: npx tsx examples/client.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });

const { data } = await client.models.list();
const model = data[0]?.id;
if (model === undefined)
  throw new Error("The server has no model yet. Try again when it prints that it is ready.");

const stream = await client.chat.completions.stream({
  model,
  messages: [{ role: "user", content: "What is the capital of France?" }],
  max_tokens: 64,
});
for await (const text of stream.texts()) process.stdout.write(text);

// The whole completion, assembled from its chunks.
const { usage, timings } = await stream.finalCompletion();
console.log(`\n${usage?.completion_tokens} tokens, ${timings?.predicted_per_second.toFixed(1)} a second`);
