// Ingle's own client against a running `ingle serve`. Run: npx tsx examples/client.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });

const { data } = await client.models.list();
const model = data[0]?.id;
if (model === undefined)
  throw new Error("The server has no model yet; try again when it says that it is ready.");

const stream = await client.chat.completions.create({
  model,
  messages: [{ role: "user", content: "What is the capital of France?" }],
  max_tokens: 64,
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
console.log();
