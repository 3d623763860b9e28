// Makes quantized rows as MLX writes them, from codes, scales and biases or from weights. Deliberately plain: a row is one big
// integer, from which the bits are taken.

/** The codes of one row as a stream of bits, lowest first. */
export function packCodes(codes: readonly number[], bits: number): Uint8Array {
  let stream = 0n;
  for (const [index, code] of codes.entries()) stream |= BigInt(code) << BigInt(index * bits);
  const bytes = new Uint8Array((codes.length * bits) / 8);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number((stream >> BigInt(8 * i)) & 255n);
  return bytes;
}

export interface Group {
  scale: number;
  bias: number;
  codes: number[];
}

/** Quantizes one group as MLX does (mlx/ops.cpp, affine_quantize); `round` rounds to the type of the scales. */
export function quantizeGroup(
  weights: readonly number[],
  bits: number,
  round: (value: number) => number,
): Group {
  const most = 2 ** bits - 1;
  const [least, largest] = [Math.min(...weights), Math.max(...weights)];
  const isLow = Math.abs(least) > Math.abs(largest);
  let scale = Math.max((largest - least) / most, 1e-7) * (isLow ? 1 : -1);
  const edge = isLow ? least : largest;
  const zero = Math.round(edge / scale);
  if (zero !== 0) scale = edge / zero;
  const bias = zero === 0 ? 0 : edge;
  const codes = weights.map((weight) => Math.max(0, Math.min(most, Math.round((weight - bias) / scale))));
  return { scale: round(scale), bias: round(bias), codes };
}

/** The nearest bfloat16, ties to even. */
export function roundToBrain(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  view.setUint32(0, (bits + 0x7fff + (Math.floor(bits / 0x10000) % 2)) & 0xffff0000);
  return view.getFloat32(0);
}
