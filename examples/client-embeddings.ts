// Embeddings: which of two texts is closer to a question. Run: npx tsx examples/client-embeddings.ts
import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model = "none" } = await client.server.readyz();

const texts = ["Paris is the capital of France.", "Bread is made of flour and water."];
const { data } = await client.embeddings.create({ model, input: ["What is France's capital?", ...texts] });
const [question, ...others] = data.map(({ embedding }) => embedding);

// Vectors have length 1, so the dot product is the cosine of the angle between them.
for (const [index, vector] of others.entries()) {
  const cosine = vector.reduce((sum, value, place) => sum + value * (question?.[place] ?? 0), 0);
  console.log(`${cosine.toFixed(3)} ${texts[index]}`);
}
