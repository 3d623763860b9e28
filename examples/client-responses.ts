// The newer convention of the openai package, with Ingle's own client. Run: npx tsx examples/client-responses.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model = "none" } = await client.server.readyz();

const stream = await client.responses.stream({
  model,
  instructions: "You answer in one sentence.",
  input: "What is the capital of France?",
  max_output_tokens: 64,
});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}
const { status, usage } = await stream.finalResponse();
console.log(`\n${status}, ${usage?.output_tokens} tokens`);
