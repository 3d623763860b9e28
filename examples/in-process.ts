// Runs a model in this process: no server, no port. Run: npx tsx examples/in-process.ts [model]
import { ensureStarterModel, generate, load, streamGenerate } from "@ingle/engine";

const modelId = process.argv[2] ?? (await ensureStarterModel());
await using loaded = await load(modelId);
const { model, tokenizer } = loaded;

const messages = [{ role: "user", content: "What is the capital of France?" }];
const prompt = await tokenizer.applyChatTemplate(messages, { tokenize: false, addGenerationPrompt: true });

// The whole text at once. Temperature 0 produces the same text every time.
const text = await generate(model, tokenizer, { prompt, temperature: 0, maxTokens: 64 });
console.log(text);

// The pieces as they arrive. Breaking out of the loop cancels the generation.
for await (const piece of streamGenerate(model, tokenizer, { prompt, maxTokens: 64 })) {
  process.stdout.write(piece);
}
console.log();

// Prints the prompt, the pieces as they arrive, and the speed of both.
await generate(model, tokenizer, {
  prompt,
  verbose: true,
  temperature: 0.3,
  topP: 0.9,
  topK: 50,
  minP: 0.15,
  repeatPenalty: 1.05,
  maxTokens: 64,
});
