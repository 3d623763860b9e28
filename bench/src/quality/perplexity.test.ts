import { describe, expect, it, vi } from "vitest";
import { BenchError } from "../bench-error.ts";
import { parseDivergence, readDivergence, readPerplexity } from "./perplexity.ts";

/** The end of what llama-perplexity writes, after a table of its pieces whose head has the same words. */
const output = `
chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS            Same top p
   1      86.5994 ±   14.9891       0.00965 ±    0.01500       0.02324 ±    0.00132     2.879 ±  0.471 %    83.137 ±  2.349 %

====== Perplexity statistics ======
Mean PPL(Q)                   :  36.235512 ±   2.499126
Mean PPL(base)                :  34.632920 ±   2.409792
Mean PPL(Q)/PPL(base)         :   1.046274 ±   0.007489

====== KL divergence statistics ======
Mean    KLD:   0.033409 ±   0.001263
Maximum KLD:   0.674631
99.9%   KLD:   0.556503
99.0%   KLD:   0.263087

====== Token probability statistics ======
Same top p: 86.536 ± 0.873 %
`;

describe("parseDivergence", () => {
  it("reads the figures of the end, not those of the pieces", () => {
    expect(parseDivergence(output)).toEqual({
      perplexity: 36.235512,
      kld: 0.033409,
      kldError: 0.001263,
      kld99: 0.263087,
      sameTop: 0.86536,
    });
  });

  it("reads a divergence that rounding has made smaller than nothing", () => {
    expect(parseDivergence(output.replace("0.033409", "-0.000001")).kld).toBe(-0.000001);
  });

  it("says what is missing in an output that was cut", () => {
    expect(() => parseDivergence(output.slice(0, output.indexOf("====== KL")))).toThrow(/no divergence/);
    expect(() => parseDivergence("")).toThrow(BenchError);
  });
});

describe("readDivergence", () => {
  const cut = output.slice(0, output.indexOf("====== KL"));

  /** A program that writes these outputs, one each time that it is run. */
  function program(...outputs: string[]) {
    return vi.fn<() => Promise<string>>(async () => outputs.shift() ?? "");
  }

  it("asks once where the output is whole", async () => {
    const compare = program(output, "");
    expect(await readDivergence(compare)).toEqual(parseDivergence(output));
    expect(compare).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["before the divergence", cut],
    ["in its last line", output.slice(0, output.indexOf(" ± 0.873"))],
    ["at its very start", ""],
  ])("asks once more where the output is cut off %s", async (_, first) => {
    const compare = program(first, output);
    expect(await readDivergence(compare)).toEqual(parseDivergence(output));
    expect(compare).toHaveBeenCalledTimes(2);
  });

  it("gives up where the output is cut off again", async () => {
    const compare = program(cut, cut, output);
    await expect(readDivergence(compare)).rejects.toThrow(/no divergence/);
    expect(compare).toHaveBeenCalledTimes(2);
  });
});

it("the original's perplexity stands behind the last piece, and is asked for once more where that is cut off", async () => {
  const whole = "0.08 minutes\n[1]9.5034,[2]12.1001,[3]13.6012,\n\n";
  const outputs = [whole.slice(0, -4), whole];
  expect(await readPerplexity(async () => outputs.shift() ?? "", 3)).toBe(13.6012);
  await expect(readPerplexity(async () => "", 3)).rejects.toThrow(BenchError);
});
