import { describe, expect, it } from "vitest";
import { parseCpuTimes, parseCpuSeconds, parsePeakMb } from "./machine.ts";

describe("parseCpuTimes", () => {
  it("counts neither idling nor waiting for a disk as busy, but what a hypervisor took", () => {
    const text = "cpu  10 1 5 80 20 0 1 3 99 99\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
    expect(parseCpuTimes(text)).toEqual({ busy: 20, total: 120 });
  });
});

describe("parseCpuSeconds", () => {
  it("is not led astray by a process's name", () => {
    const line = `42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 12345`;
    expect(parseCpuSeconds(line)).toBe(3);
  });
});

describe("parsePeakMb", () => {
  it("reads the high-water mark in units of 1,000,000 bytes", () => {
    expect(parsePeakMb("VmPeak:\t  999 kB\nVmHWM:\t  500000 kB\nVmRSS:\t 1 kB\n")).toBe(512);
  });
});
