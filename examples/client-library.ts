// Finds a model on the hub, downloads it while showing progress, and asks it a question. Downloads about 200 MB the first time.
// Run: npx tsx examples/client-library.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });

const found = await client.library.search("LFM2-350M-GGUF", { limit: 5 });
console.log(found.data.map(({ repo, downloads }) => `${repo}: ${downloads} downloads`).join("\n"));

// Smallest first, each with the memory that it will need.
const { models } = await client.library.describe("LiquidAI/LFM2-350M-GGUF");
const wanted = models.find(({ id, fits }) => id.endsWith(":Q4_K_M") && fits);
if (wanted === undefined) throw new Error("This machine has too little memory for it.");

const pull = await client.library.pull(wanted.id);
for await (const { status, bytes, total_bytes } of pull) {
  console.log(`${status}: ${bytes} of ${total_bytes} bytes`);
}
await client.library.setAlias("small", wanted.id);

const completion = await client.chat.completions.create({
  model: "small",
  messages: [{ role: "user", content: "What is the capital of France?" }],
  max_tokens: 32,
});
console.log(completion.choices[0]?.message.content);

await client.library.unload("small");
const { data } = await client.library.list();
for (const { id, aliases, status } of data) console.log([id, ...aliases, status].join(" "));
