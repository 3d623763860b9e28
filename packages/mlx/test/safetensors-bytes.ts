// Writes safetensors files, right or wrong.
import type { Dtype } from "../src/safetensors.ts";

export interface TensorBytes {
  dtype: Dtype;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** A file of these tensors, in their order. */
export function safetensorsBytes(tensors: Readonly<Record<string, TensorBytes>>): Buffer {
  const header: Record<string, unknown> = { __metadata__: { format: "mlx" } };
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
  }
  return joinFile(JSON.stringify(header), Buffer.concat(Object.values(tensors).map(({ bytes }) => bytes)));
}

/** A file of this header and data, valid or not. */
export function joinFile(header: string, data: Uint8Array): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([length, Buffer.from(header), data]);
}

export function f32(shape: readonly number[], values: readonly number[]): TensorBytes {
  return { dtype: "F32", shape, bytes: new Uint8Array(Float32Array.from(values).buffer) };
}
