// Formats, channels, sample rates and lengths, read from the first bytes of real and made-up files.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { drawSound, encodeFlac, encodeWav } from "@ingle/fixtures";
import fc from "fast-check";
import { expect, it } from "vitest";

import { EngineError } from "../../base/errors.ts";
import { audioBytes } from "./audio-limits.ts";
import { checkAudios, readAudioHeader } from "./audio-header.ts";

/** An MP3 file of the vendored llama.cpp, without a table of contents. */
const speech = path.join(import.meta.dirname, "../../../../../vendor/llama.cpp/source/tools/mtmd/test-2.mp3");

function thrownCode(read: () => unknown): string {
  try {
    read();
    return "ok";
  } catch (error) {
    if (EngineError.is(error)) return error.code;
    throw error;
  }
}

const second = drawSound(1, { seconds: 1 });

it("gives the format, channels, sample rate and length of WAV and FLAC files", () => {
  const wav = encodeWav(drawSound(1, { seconds: 1.5, sampleRate: 44_100 }), {
    sampleRate: 44_100,
    channels: 2,
  });
  expect(readAudioHeader(wav)).toEqual({ format: "wav", channels: 2, sampleRate: 44_100, seconds: 1.5 });
  const flac = { format: "flac", channels: 1, sampleRate: 22_050, seconds: 16_000 / 22_050 };
  expect(readAudioHeader(encodeFlac(second, 22_050))).toEqual(flac);
});

it("counts what a WAV file has, not what its header claims", () => {
  const piped = encodeWav(second);
  piped.writeUInt32LE(0xffff_ffff, 40);
  expect(readAudioHeader(piped).seconds).toBe(1);
});

it("gives the length of an MP3 file that has a number of frames, and none otherwise", async () => {
  const bytes = await readFile(speech);
  const header = readAudioHeader(bytes);
  expect(header).toMatchObject({ format: "mp3", channels: expect.any(Number) });
  // Frames of 128 kbit/s at 44.1 kHz, the first with the number of all.
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  const first = Buffer.from(frame);
  first.write("Xing", 4 + 17, "latin1");
  first.writeUInt32BE(1, 4 + 17 + 4);
  first.writeUInt32BE(100, 4 + 17 + 8);
  const expected = { format: "mp3", channels: 1, sampleRate: 44_100 };
  expect(readAudioHeader(Buffer.concat([first, frame, frame]))).toEqual({
    ...expected,
    seconds: (100 * 1152) / 44_100,
  });
  expect(readAudioHeader(Buffer.concat([frame, frame]))).toEqual({ ...expected, seconds: null });
  const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
  expect(readAudioHeader(Buffer.concat([tag, frame, frame]))).toEqual({ ...expected, seconds: null });
});

it("refuses other formats, encodings, channels and sample rates", () => {
  const edited = (edit: (wav: Buffer) => void): Buffer => {
    const wav = encodeWav(second);
    edit(wav);
    return wav;
  };
  const wrong: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    text: Buffer.from("no audio at all, only text that is long enough for a header"),
    ogg: Buffer.concat([Buffer.from("OggS"), Buffer.alloc(100)]),
    cut: encodeWav(second).subarray(0, 30),
    adpcm: edited((wav) => wav.writeUInt16LE(2, 20)),
    "12 bits": edited((wav) => wav.writeUInt16LE(12, 34)),
    "frames of other sizes": edited((wav) => wav.writeUInt16LE(6, 32)),
    "9 channels": encodeWav(second, { channels: 9 }),
    "no channels": encodeWav(second, { channels: 0 }),
    "4 kHz": encodeWav(second, { sampleRate: 4000 }),
    "400 kHz": encodeWav(second, { sampleRate: 400_000 }),
    "a FLAC file without STREAMINFO": Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(60, 1)]),
  };
  for (const [name, bytes] of Object.entries(wrong))
    expect([name, thrownCode(() => readAudioHeader(bytes))]).toEqual([name, "audio_invalid"]);
});

it("any bytes are a header or audio_invalid", () => {
  const starts = [
    Buffer.from("RIFF\0\0\0\0WAVEfmt "),
    Buffer.from("fLaC"),
    Buffer.from([0xff, 0xfb]),
    Buffer.from("ID3"),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }), (start, rest) => {
      expect(["ok", "audio_invalid"]).toContain(
        thrownCode(() => readAudioHeader(Buffer.concat([start, rest]))),
      );
    }),
  );
});

it("checks the limits of all audios of a request before any is decoded", () => {
  const wav = encodeWav(second);
  expect(checkAudios([wav, wav])).toHaveLength(2);
  expect(() => checkAudios([wav, Buffer.alloc(9)])).toThrow(
    expect.objectContaining({ code: "audio_invalid", details: { audio: 1 } }),
  );
  expect(() => checkAudios([wav, wav], { maxBytes: wav.length - 1 })).toThrow(
    expect.objectContaining({ code: "audio_too_large", details: expect.objectContaining({ audio: 0 }) }),
  );
  expect(thrownCode(() => checkAudios([wav, wav], { maxAudios: 1 }))).toBe("audio_too_large");
  expect(thrownCode(() => checkAudios([wav, wav], { maxSeconds: 1.9 }))).toBe("audio_too_large");
});

it("reads strict base64 of at most so many bytes", () => {
  expect(audioBytes("YWJjZA==")).toEqual(Buffer.from("abcd"));
  expect(thrownCode(() => audioBytes("YWJj*"))).toBe("audio_invalid");
  expect(audioBytes("data:application/octet-stream;base64,YW\nJj")).toEqual(Buffer.from("abc"));
  expect(thrownCode(() => audioBytes("data:audio/wav,YWJj"))).toBe("audio_invalid");
  expect(thrownCode(() => audioBytes("YWJjZA==", { maxBytes: 3 }))).toBe("audio_too_large");
});
