// The tiny model of this folder's tests, loaded with one compute thread because test files run in parallel.
import { load, type ContentPart, type LoadedModel, type LoadOptions } from "@ingle/engine";
import { drawImage, drawSound, encodeWav, exactArithmetic, tinyModel } from "@ingle/fixtures";

type TinyModelOptions = Parameters<typeof tinyModel>[0];

export async function loadTiny(
  options: LoadOptions = {},
  fixture: TinyModelOptions = {},
): Promise<LoadedModel> {
  return load(await tinyModel(fixture), { threads: 1, ...options });
}

/** A tiny model whose logits hardly depend on the rest of the batch, for tests that compare texts. */
export async function loadExact(
  options: LoadOptions = {},
  fixture: TinyModelOptions = {},
): Promise<LoadedModel> {
  return loadTiny({ ...exactArithmetic, ...options }, { ...fixture, weights: "f32" });
}

/** `count` different prompts of different lengths. */
export function prompts(count: number): string[] {
  const words = [
    "river",
    "copper",
    "seven",
    "lantern",
    "orbit",
    "maple",
    "quiet",
    "harbour",
    "signal",
    "winter",
  ];
  return Array.from({ length: count }, (_, index) =>
    Array.from(
      { length: 3 + ((index * 7) % 23) },
      (__, word) => words[(index * 3 + word * (index + 1)) % words.length],
    ).join(" "),
  );
}

/** A small image in a message. */
export function anImage(): ContentPart {
  const { width, height, data } = drawImage("disc", 96, 64);
  return { type: "image", image: { width, height, data } };
}

/** Three seconds of sound in a message. */
export function anAudio(): ContentPart {
  return { type: "audio", audio: encodeWav(drawSound(1, { seconds: 3 })) };
}

/** Fails after `ms` instead of hanging. */
export async function within<T>(ms: number, promise: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
