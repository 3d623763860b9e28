// Reads ggml's blocks one weight at a time, by the layouts in ggml-common.h, for comparison with the folder's weights.
// Deliberately slow and plain: it shares no code with the encoders.
import type { StoredType } from "../src/storage.ts";

/** The value of weight `index` in rows of whole blocks. */
export function ggmlValue(type: StoredType, bytes: Uint8Array, index: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type) {
    case "F32":
      return view.getFloat32(4 * index, true);
    case "F16":
      return half(view.getUint16(2 * index, true));
    case "BF16":
      return single(view.getUint16(2 * index, true) << 16);
    case "Q1_0":
      return q10(view, 18 * Math.floor(index / 128), index % 128);
    case "Q4_1":
      return q41(view, 20 * Math.floor(index / 32), index % 32);
    case "Q5_1":
      return q51(view, 24 * Math.floor(index / 32), index % 32);
    case "Q8_0":
      return q80(view, 34 * Math.floor(index / 32), index % 32);
    case "MXFP4":
      return mxfp4(view, 17 * Math.floor(index / 32), index % 32);
    case "NVFP4":
      return nvfp4(view, 36 * Math.floor(index / 64), index % 64);
  }
}

function q10(view: DataView, at: number, j: number): number {
  const d = half(view.getUint16(at, true));
  return Math.floor(view.getUint8(at + 2 + Math.floor(j / 8)) / 2 ** (j % 8)) % 2 === 1 ? d : -d;
}

function q41(view: DataView, at: number, j: number): number {
  const byte = view.getUint8(at + 4 + (j % 16));
  const code = j < 16 ? byte % 16 : Math.floor(byte / 16);
  const [d, m] = [half(view.getUint16(at, true)), half(view.getUint16(at + 2, true))];
  return Math.fround(Math.fround(code * d) + m);
}

function q51(view: DataView, at: number, j: number): number {
  const byte = view.getUint8(at + 8 + (j % 16));
  const fifth = Math.floor(view.getUint32(at + 4, true) / 2 ** j) % 2;
  const code = (j < 16 ? byte % 16 : Math.floor(byte / 16)) + 16 * fifth;
  const [d, m] = [half(view.getUint16(at, true)), half(view.getUint16(at + 2, true))];
  return Math.fround(Math.fround(code * d) + m);
}

function q80(view: DataView, at: number, j: number): number {
  return Math.fround(view.getInt8(at + 2 + j) * half(view.getUint16(at, true)));
}

const doubled = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

function mxfp4(view: DataView, at: number, j: number): number {
  const byte = view.getUint8(at + 1 + (j % 16));
  const code = j < 16 ? byte % 16 : Math.floor(byte / 16);
  return (doubled[code] ?? 0) * 2 ** (view.getUint8(at) - 128);
}

function nvfp4(view: DataView, at: number, j: number): number {
  const [group, inside] = [Math.floor(j / 16), j % 16];
  const byte = view.getUint8(at + 4 + 8 * group + (inside % 8));
  const code = inside < 8 ? byte % 16 : Math.floor(byte / 16);
  return (doubled[code] ?? 0) * 0.5 * e4m3(view.getUint8(at + group));
}

/** A positive float of 8 bits as ggml reads it: NaN is 0. */
export function e4m3(bits: number): number {
  if (bits === 0x7f) return 0;
  const exponent = Math.floor(bits / 8);
  return exponent === 0 ? (bits % 8) * 2 ** -9 : (1 + (bits % 8) / 8) * 2 ** (exponent - 7);
}

export function half(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const exponent = Math.floor(bits / 1024) % 32;
  const fraction = bits % 1024;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function single(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setInt32(0, bits);
  return view.getFloat32(0);
}
