import type { Machine, MemoryEstimate, OfferedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { rateEstimate, rateOffer, recommendModel } from "./fit.ts";

const GiB = 1024 ** 3;

function offer(quantization: string, gib: number, fits = true): OfferedModel {
  const size_bytes = gib * GiB;
  return {
    id: `org/repo:${quantization}`,
    quantization,
    size_bytes,
    projector: false,
    memory_bytes: size_bytes + GiB,
    fits,
  };
}

function machine(memory: number, available: number, devices: Machine["devices"] = []) {
  return { memory_bytes: memory * GiB, available_bytes: available * GiB, devices };
}

describe("the light of a model on the hub", () => {
  it("is green if it fits into the free memory", () => {
    const model = offer("Q4_K_M", 4);
    expect(rateOffer(model, [model], machine(16, 12))).toEqual({
      colour: "green",
      reason: { kind: "fits", needed: 5 * GiB, available: 12 * GiB },
      better: null,
    });
  });

  it("is yellow while others use the memory, and names the largest level with a green light", () => {
    const levels = [offer("Q2_K", 2), offer("Q3_K_M", 3), offer("Q4_K_M", 4)];
    const fit = rateOffer(levels[2] ?? offer("", 0), levels, machine(16, 4.5));
    expect(fit.colour).toBe("yellow");
    expect(fit.reason.kind).toBe("busy");
    expect(fit.better?.quantization).toBe("Q3_K_M");
  });

  it("is yellow if it would take nearly all memory", () => {
    const model = offer("Q8_0", 14);
    const fit = rateOffer(model, [model], machine(16, 15.9));
    expect(fit).toMatchObject({ colour: "yellow", reason: { kind: "nearly_all" }, better: null });
  });

  it("is red if the server says that it does not fit, and names the level that would", () => {
    const levels = [offer("Q4_K_M", 9), offer("Q8_0", 18, false)];
    const fit = rateOffer(levels[1] ?? offer("", 0), levels, machine(16, 12));
    expect(fit).toMatchObject({ colour: "red", reason: { kind: "too_large" } });
    expect(fit.better?.quantization).toBe("Q4_K_M");
  });

  it("is red without a better level if none fits, and names a yellow one if none is green", () => {
    const large = offer("Q8_0", 18, false);
    expect(rateOffer(large, [large], machine(16, 12)).better).toBeNull();
    const tight = offer("Q4_K_M", 12);
    expect(rateOffer(large, [large, tight], machine(16, 5)).better).toBe(tight);
  });

  it("counts a card's own memory", () => {
    const card = {
      name: "CUDA0",
      description: "a card",
      kind: "gpu" as const,
      memory_bytes: 24 * GiB,
      free_bytes: 23 * GiB,
    };
    const model = offer("Q8_0", 14);
    expect(rateOffer(model, [model], machine(16, 4, [card])).colour).toBe("green");
  });
});

describe("the recommended level", () => {
  it("is Q4_K_M if that has a green light", () => {
    const levels = [offer("Q2_K", 2), offer("Q4_K_M", 4), offer("Q8_0", 7)];
    expect(recommendModel(levels, machine(16, 12))?.quantization).toBe("Q4_K_M");
  });

  it("is otherwise the largest with a green light, if there is one", () => {
    const levels = [offer("Q2_K", 2), offer("Q3_K_M", 3), offer("Q4_K_M", 4)];
    expect(recommendModel(levels, machine(16, 4.5))?.quantization).toBe("Q3_K_M");
    expect(recommendModel(levels, machine(16, 1))).toBeNull();
  });
});

describe("the light of an installed model", () => {
  const estimate: MemoryEstimate = {
    model: "m",
    fits: "yes",
    reason: "It fits.",
    memory_bytes: 2 * GiB,
    available_bytes: 8 * GiB,
    context_length: 8192,
    context_length_max: 32_768,
    kv_bytes_per_token: 1024,
    kv_bits_k: 16,
    kv_bits_v: 16,
  };

  it("is green if the server says yes, with or without a memory budget", () => {
    expect(rateEstimate(estimate).colour).toBe("green");
    expect(rateEstimate({ ...estimate, available_bytes: null })).toMatchObject({ colour: "green" });
  });

  it("is yellow if a shorter context fits", () => {
    const tight = { ...estimate, fits: "tight" as const, context_length: 65_536 };
    expect(rateEstimate(tight)).toMatchObject({
      colour: "yellow",
      reason: { kind: "shorter", contextLength: 65_536, contextLengthMax: 32_768 },
    });
  });

  it("is yellow if memory has to be freed first", () => {
    const busy = { ...estimate, fits: "tight" as const, available_bytes: GiB };
    expect(rateEstimate(busy)).toMatchObject({ colour: "yellow", reason: { kind: "busy" } });
  });

  it("is red if the server says no", () => {
    expect(rateEstimate({ ...estimate, fits: "no" })).toMatchObject({
      colour: "red",
      reason: { kind: "too_large" },
    });
  });
});
