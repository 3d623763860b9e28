// Loads a model again and again, each time with other bytes of its header changed, and writes a few tokens where that
// succeeds: the process that damaged-headers.model.test.ts expects to live. One line a damage: its number, then "ok" or the
// error's code. Uses the build.
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { load } from "../dist/load.js";

const [modelPath, scratch, damagesPath] = process.argv.slice(2);
const whole = readFileSync(modelPath);
const damages = JSON.parse(readFileSync(damagesPath, "utf8"));

async function outcome() {
  try {
    const { model } = await load(scratch, { gpuLayers: 0, contextLength: 64, parallel: 1, threads: 1 });
    try {
      await model.generate({ prompt: [5, 6, 7], maxTokens: 2 });
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
