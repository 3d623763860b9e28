// Asks questions about images, in this process.
// Run: npx tsx examples/vision.ts LiquidAI/LFM2-VL-450M-GGUF duck.jpg swan.jpg
import { applyChatTemplate, generate, load, streamGenerate, type TemplateMessage } from "@ingle/engine";

const [modelId, ...images] = process.argv.slice(2);
const [duck] = images;
if (modelId === undefined || duck === undefined) {
  console.log("Usage: npx tsx examples/vision.ts MODEL IMAGE…");
  process.exit();
}

await using loaded = await load(modelId);
const { model, processor } = loaded;

const messages: TemplateMessage[] = [
  { role: "user", content: [{ type: "image" }, { type: "text", text: "What is this?" }] },
];
const prompt = await applyChatTemplate(processor, messages);

// Prints the prompt, the pieces as they arrive, and the speed of both.
await generate(model, processor, { images: duck, prompt, verbose: true, temperature: 0, maxTokens: 64 });

// One part per image, and the images in the same order.
const content: TemplateMessage["content"] = [
  ...images.map(() => ({ type: "image" as const })),
  { type: "text", text: "What do these images have in common?" },
];
const question = await applyChatTemplate(processor, [{ role: "user", content }]);
for await (const piece of streamGenerate(model, processor, { images, prompt: question, maxTokens: 64 })) {
  process.stdout.write(piece);
}
console.log();
