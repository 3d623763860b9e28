import { serialize } from "node:v8";
import { expect, it } from "vitest";
import { StepReportReader } from "./step-reports.ts";

function frame(value: unknown): Buffer {
  const body = serialize(value);
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

const reports = ["a", "bc", "d".repeat(300)].map((text) => ({
  events: [{ id: 1, type: "text", text, tokens: 1 }],
  stats: null,
}));

it.each([1, 3, 4, 5, 100, 1000])("reads reports in chunks of %i bytes", (size) => {
  const bytes = Buffer.concat(reports.map(frame));
  const reader = new StepReportReader();
  const found: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) found.push(...reader.read(bytes.subarray(at, at + size)));
  expect(found).toEqual(reports);
});

it("refuses what is no report", () => {
  expect(() => new StepReportReader().read(Buffer.from([255, 255, 255, 255]))).toThrow(/too long/);
  expect(() => new StepReportReader().read(Buffer.from([2, 0, 0, 0, 1, 2]))).toThrow();
});
