import { describe, expect, it } from "vitest";
import { BenchError } from "./bench-error.ts";
import { parseOptions } from "./options.ts";
import { scenarios } from "./scenarios/all.ts";

const parse = (...args: string[]) => parseOptions(args, import.meta.dirname);

describe("parseOptions", () => {
  it("takes all scenarios when none is named, and the named ones in their own order", () => {
    expect(parse("http").scenarios).toEqual(scenarios.map(({ name }) => name));
    expect(parse("http", "mixed", "single").scenarios).toEqual(["single", "mixed"]);
  });

  it("takes 3 rounds for http and 5 for decode unless told", () => {
    expect(parse("http").rounds).toBe(3);
    expect(parse("decode").rounds).toBe(5);
    expect(parse("decode", "--rounds", "7").rounds).toBe(7);
  });

  it("keeps seed 0", () => {
    expect(parse("http", "--seed", "0").seed).toBe(0);
  });

  it("takes kinds and levels by their names, and a book to measure on unless told", () => {
    expect(parse("kv", "q8_0", "q3_kv").kinds).toEqual(["q8_0", "q3_kv"]);
    expect(parse("quant").kinds).toEqual([]);
    expect(parse("kv").text).toBeUndefined();
    expect(parse("kv", "--sampled").text).toBe("sampled");
    const file = import.meta.filename;
    expect(parse("quant", "--text", file).text).toEqual({ file });
    expect(parse("kv", "--depth", "0", "--needles", "0")).toMatchObject({ depth: 0, needleTexts: 0 });
  });

  it("takes a size of heads in place of a model", () => {
    expect(parse("kv", "--head", "128")).toMatchObject({ headSize: 128, model: undefined });
    expect(parse("kv").headSize).toBeUndefined();
  });

  it("takes levels to measure the speed of, and a checkout of ik_llama.cpp", () => {
    expect(parse("speed", "Q4_K_M", "Q8_0", "--ik", ".")).toMatchObject({
      kinds: ["Q4_K_M", "Q8_0"],
      ik: import.meta.dirname,
      rounds: 5,
    });
    expect(parse("peers").ik).toBeUndefined();
    expect(parse("speed").shape).toBe("llama");
    expect(parse("speed", "--shape", "lfm2moe").shape).toBe("lfm2moe");
  });

  it("takes a file to simulate", () => {
    const file = import.meta.filename;
    expect(parse("simulate", file)).toMatchObject({ command: "simulate", plan: file });
  });

  it("shows the help when nothing is asked for", () => {
    expect(parse().command).toBe("help");
    expect(parse("http", "--help").command).toBe("help");
  });

  it.each([
    ["an unknown command", ["measure"]],
    ["an unknown scenario", ["http", "fast"]],
    ["an unknown flag", ["http", "--fast"]],
    ["a name where none belongs", ["decode", "single"]],
    ["zero rounds", ["http", "--rounds", "0"]],
    ["a number that is none", ["http", "--threads", "two"]],
    ["two texts", ["kv", "--sampled", "--text", import.meta.filename]],
    ["a model beside a size of heads", ["kv", "--head", "128", "--model", import.meta.filename]],
    ["an odd size of heads", ["kv", "--head", "127"]],
    ["a size of heads where none belongs", ["quant", "--head", "128"]],
    ["pieces that are too short", ["quant", "--piece-tokens", "8"]],
    ["nothing to simulate", ["simulate"]],
    ["two files to simulate", ["simulate", import.meta.filename, import.meta.filename]],
    ["a shape that no model is made in", ["speed", "--shape", "toString"]],
    ["a checkout that is not there", ["speed", "--ik", "nowhere"]],
    ["a model that is not there", ["http", "--model", "nowhere.gguf"]],
  ])("refuses %s", (_, args) => {
    expect(() => parse(...args)).toThrow(BenchError);
  });
});
