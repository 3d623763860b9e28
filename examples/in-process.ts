// A model in this very process: no server, no port. Run: npx tsx examples/in-process.ts [model.gguf]
import { ensureStarterModel, generate, load, streamGenerate } from "@ingle/engine";

const modelPath = process.argv[2] ?? (await ensureStarterModel());
await using loaded = await load(modelPath);
const { model, tokenizer } = loaded;

const prompt = await tokenizer.applyChatTemplate([
  { role: "user", content: "What is the capital of France?" },
]);

// The whole text at once; temperature 0 gives the same text every time.
console.log(await generate(model, tokenizer, { prompt, temperature: 0, maxTokens: 64 }));

// The pieces as they come. Leaving the loop ends the generation.
for await (const piece of streamGenerate(model, tokenizer, { prompt, maxTokens: 64 }))
  process.stdout.write(piece);
console.log();
