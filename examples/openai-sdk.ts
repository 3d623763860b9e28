// The official openai package with a running `ingle serve`: only the address changes.
// Run: npx tsx examples/openai-sdk.ts
import OpenAI from "openai";

const baseURL = `${process.env["INGLE_URL"] ?? "http://127.0.0.1:1337"}/v1`;
const client = new OpenAI({ baseURL, apiKey: "any text, unless the server has keys" });

const { data } = await client.models.list();
const model = data[0]?.id;
if (model === undefined)
  throw new Error("The server has no model yet. Try again when it prints that it is ready.");

const completion = await client.chat.completions.create({
  model,
  messages: [{ role: "user", content: "What is the capital of France?" }],
  temperature: 0,
  max_tokens: 64,
});
console.log(completion.choices[0]?.message.content);

const stream = await client.chat.completions.create({
  model,
  messages: [{ role: "user", content: "Count to five." }],
  max_tokens: 64,
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
console.log();
