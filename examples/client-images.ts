// Asks a question about an image. Run: npx tsx examples/client-images.ts duck.jpg
import { readFile } from "node:fs/promises";
import { imageUrl, Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { data } = await client.models.list();
const model = data.find(({ input_modalities }) => input_modalities.includes("image"))?.id;
if (model === undefined) {
  console.log("No model of this server reads images. Start it with one that has a projector.");
  process.exit();
}

const url = await imageUrl(await readFile(process.argv[2] ?? "duck.jpg"));
const { choices } = await client.chat.completions.create({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url } },
        { type: "text", text: "What is this?" },
      ],
    },
  ],
});
console.log(choices[0]?.message.content);
