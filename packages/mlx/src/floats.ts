// The short floating-point formats: IEEE half, bfloat16, and those of quantized weights (OCP Microscaling Formats: e2m1,
// e4m3, e8m0).
import { halfBits } from "@ingle/gguf";

/** The value of every half, by its 16 bits. */
export const halfValues: Float32Array = Float32Array.from({ length: 0x1_0000 }, (_, bits) => {
  const sign = bits < 0x8000 ? 1 : -1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
});

/** The value of every float of 4 bits (sign, 2 of exponent, 1 of fraction). */
export const e2m1Values: Float32Array = Float32Array.from([
  0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6,
]);

/** The value of every float of 8 bits (sign, 4 of exponent, 3 of fraction), without infinities; 0x7F and 0xFF are NaN. */
export const e4m3Values: Float32Array = Float32Array.from({ length: 256 }, (_, bits) => {
  const sign = bits < 0x80 ? 1 : -1;
  const exponent = (bits >>> 3) & 0xf;
  const fraction = bits & 7;
  if (exponent === 15 && fraction === 7) return Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -9 : (8 + fraction) * 2 ** (exponent - 10));
});

/** The power of two of every exponent of 8 bits. */
export const e8m0Values: Float32Array = Float32Array.from({ length: 256 }, (_, bits) => 2 ** (bits - 127));

/** The types of scales, and of tensors that are not quantized. */
export type FloatType = "F16" | "BF16" | "F32";

export function isFloatType(dtype: string): dtype is FloatType {
  return dtype === "F16" || dtype === "BF16" || dtype === "F32";
}

/** The numbers in little-endian bytes. */
export function readFloats(dtype: FloatType, bytes: Uint8Array): Float32Array {
  // A view needs an aligned start, which a copy has.
  const own = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  if (dtype === "F32") return new Float32Array(own.buffer, own.byteOffset, own.length / 4);
  const words = new Uint16Array(own.buffer, own.byteOffset, own.length / 2);
  const values = new Float32Array(words.length);
  if (dtype === "F16") {
    for (let i = 0; i < words.length; i += 1) values[i] = halfValues[words[i] ?? 0] ?? 0;
    return values;
  }
  const wide = new Uint32Array(values.buffer);
  for (let i = 0; i < words.length; i += 1) wide[i] = (words[i] ?? 0) << 16;
  return values;
}

/** The bytes of the numbers in this type, each rounded to the nearest, ties to even. */
export function writeFloats(dtype: FloatType, values: Float32Array): Uint8Array {
  if (dtype === "F32") return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const words = new Uint16Array(values.length);
  if (dtype === "F16") {
    for (let i = 0; i < values.length; i += 1) words[i] = halfBits(values[i] ?? 0);
  } else {
    const wide = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < wide.length; i += 1) words[i] = brainBits(wide[i] ?? 0);
  }
  return new Uint8Array(words.buffer);
}

function brainBits(word: number): number {
  if ((word & 0x7fffffff) > 0x7f800000) return (word >>> 16) | 0x40; // stays NaN
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
}
