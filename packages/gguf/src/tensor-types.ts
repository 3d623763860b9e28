// ggml's tensor types by their numbers: how many elements lie in a block, and how many bytes a block takes. Used by
// tensors.ts to say where a tensor's data ends.

export interface TensorType {
  name: string;
  /** Elements of one row that are stored together. */
  blockElements: number;
  blockBytes: number;
}

const row = (name: string, blockElements: number, blockBytes: number): TensorType => ({
  name,
  blockElements,
  blockBytes,
});

/** Numbers that are missing here were given up by ggml, or are newer than this table. */
export const tensorTypes: ReadonlyMap<number, TensorType> = new Map([
  [0, row("F32", 1, 4)],
  [1, row("F16", 1, 2)],
  [2, row("Q4_0", 32, 18)],
  [3, row("Q4_1", 32, 20)],
  [6, row("Q5_0", 32, 22)],
  [7, row("Q5_1", 32, 24)],
  [8, row("Q8_0", 32, 34)],
  [9, row("Q8_1", 32, 36)],
  [10, row("Q2_K", 256, 84)],
  [11, row("Q3_K", 256, 110)],
  [12, row("Q4_K", 256, 144)],
  [13, row("Q5_K", 256, 176)],
  [14, row("Q6_K", 256, 210)],
  [15, row("Q8_K", 256, 292)],
  [16, row("IQ2_XXS", 256, 66)],
  [17, row("IQ2_XS", 256, 74)],
  [18, row("IQ3_XXS", 256, 98)],
  [19, row("IQ1_S", 256, 50)],
  [20, row("IQ4_NL", 32, 18)],
  [21, row("IQ3_S", 256, 110)],
  [22, row("IQ2_S", 256, 82)],
  [23, row("IQ4_XS", 256, 136)],
  [24, row("I8", 1, 1)],
  [25, row("I16", 1, 2)],
  [26, row("I32", 1, 4)],
  [27, row("I64", 1, 8)],
  [28, row("F64", 1, 8)],
  [29, row("IQ1_M", 256, 56)],
  [30, row("BF16", 1, 2)],
  [34, row("TQ1_0", 256, 54)],
  [35, row("TQ2_0", 256, 66)],
  [39, row("MXFP4", 32, 17)],
  [40, row("NVFP4", 64, 36)],
  [41, row("Q1_0", 128, 18)],
  [42, row("Q2_0", 64, 18)],
]);
