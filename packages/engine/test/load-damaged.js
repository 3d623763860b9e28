// Loads a file again and again, each time with other damage in its header, and uses it if it loads: the child process of
// damaged-loads.ts, which must not crash. A model generates a few tokens; if a model for it is given, a projector encodes an image. Prints
// one line for each damage: its number, then "ok" or the error's code. Uses the build.
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { load } from "../dist/load.js";

const [wholePath, scratch, damagesPath, modelPath] = process.argv.slice(2);
const whole = readFileSync(wholePath);
const damages = JSON.parse(readFileSync(damagesPath, "utf8"));

const shared = { gpuLayers: 0, parallel: 1, threads: 1 };
// The sides differ, so that swapped sizes are detected.
const [width, height] = [90, 50];
const data = new Uint8Array(3 * width * height).map((_, index) => (index * 37) % 251);
const messages = [{ role: "user", content: [{ type: "image", image: { width, height, data } }] }];

const used =
  modelPath === undefined
    ? {
        load: () => load(scratch, { ...shared, contextLength: 64 }),
        request: { prompt: [5, 6, 7], maxTokens: 2 },
      }
    : {
        load: () => load(modelPath, { ...shared, contextLength: 1024, mmproj: scratch }),
        request: { messages, maxTokens: 1 },
      };

async function outcome() {
  try {
    const { model } = await used.load();
    try {
      await model.generate(used.request);
    } finally {
      await model[Symbol.asyncDispose]();
    }
    return "ok";
  } catch (error) {
    return error.code ?? error.stack;
  }
}

for (const [index, { at, hex, length }] of damages.entries()) {
  writeSync(1, `${index} `);
  if (length !== undefined) {
    writeFileSync(scratch, whole);
    truncateSync(scratch, length);
  } else {
    const file = openSync(scratch, "r+");
    writeSync(file, Buffer.from(hex, "hex"), 0, hex.length / 2, at);
    closeSync(file);
  }
  writeSync(1, `${await outcome()}\n`);
  writeFileSync(scratch, whole);
}
