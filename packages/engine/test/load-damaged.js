// Loads a file again and again, each time with other damage in its header, and uses it if it loads: the child process of
// damaged-loads.ts, which must not crash. A model generates a few tokens, also with an adapter; a projector encodes an image
// or audio. Prints one line for each damage: its number, then "ok" or the error's code. Uses the build.
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { load } from "../dist/load.js";

const [wholePath, scratch, damagesPath, modelPath, kind] = process.argv.slice(2);
const whole = readFileSync(wholePath);
const damages = JSON.parse(readFileSync(damagesPath, "utf8"));

const shared = { gpuLayers: 0, parallel: 1, threads: 1 };
// The sides differ, so that swapped sizes are detected.
const [width, height] = [90, 50];
const data = new Uint8Array(3 * width * height).map((_, index) => (index * 37) % 251);
const image = { type: "image", image: { width, height, data } };
// A second of a tone as WAV.
const wav = Buffer.alloc(44 + 32_000);
wav.write("RIFF----WAVEfmt \x10\0\0\0\x01\0\x01\0", "latin1");
wav.writeUInt32LE(16_000, 24);
wav.writeUInt32LE(32_000, 28);
wav.writeUInt16LE(2, 32);
wav.writeUInt16LE(16, 34);
wav.write("data", 36, "latin1");
wav.writeUInt32LE(32_000, 40);
for (let at = 44; at < wav.length; at += 2) wav.writeInt16LE(Math.round(9000 * Math.sin(at / 7)), at);
const audio = { type: "audio", audio: wav };

/** A message with what the model reads. */
function messagesFor({ readsImages, readsAudio }) {
  return [
    {
      role: "user",
      content: [...(readsImages === true ? [image] : []), ...(readsAudio === true ? [audio] : [])],
    },
  ];
}

const short = { prompt: [5, 6, 7], maxTokens: 2 };
const uses = {
  model: {
    load: () => load(scratch, { ...shared, contextLength: 64 }),
    request: () => short,
  },
  adapter: {
    load: () =>
      load(modelPath, { ...shared, contextLength: 64, adapters: [{ name: "damaged", path: scratch }] }),
    request: () => ({ ...short, adapters: [{ id: "damaged" }] }),
  },
  projector: {
    load: () => load(modelPath, { ...shared, contextLength: 1024, mmproj: scratch }),
    request: ({ info }) => ({ messages: messagesFor(info), maxTokens: 1 }),
  },
};
const used = uses[kind ?? "model"];

async function outcome() {
  try {
    const { model } = await used.load();
    try {
      await model.generate(used.request(model));
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
