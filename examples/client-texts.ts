// Without a chat: the tokens of a text, and its continuation. Run: npx tsx examples/client-texts.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model = "none" } = await client.server.readyz();

const { tokens, count, max_model_len } = await client.tokenize({ model, content: "Once upon a time" });
console.log(`${count} of ${max_model_len} tokens: ${tokens.join(" ")}`);
console.log((await client.detokenize({ model, tokens })).content);

const stream = await client.completions.stream({ model, prompt: "Once upon a time", max_tokens: 32 });
for await (const text of stream.texts()) process.stdout.write(text);
console.log();
