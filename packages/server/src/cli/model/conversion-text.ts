// What a conversion decided and what it costs, a line for each way of storing. Used by serve, run, chat, pull and import.
import type { ConversionReport, ConversionStep } from "@ingle/engine";
import { formatBytes } from "../../format-bytes.ts";
import { formatColumns } from "../text.ts";

/** The lines, each with its end. */
export function conversionText(report: ConversionReport): string {
  const rows = report.steps.map((step): [string, string] => [
    `  ${step.from} → ${step.to}`,
    `${countOf(step)}, ${formatBytes(step.bytes)}, ${lossOf(step)}`,
  ]);
  const { length: unused } = report.unused;
  const left = unused === 0 ? "" : `  ${unused} tensors that the text model does not need were left out.\n`;
  return `${formatColumns(rows)}${left}`;
}

function countOf({ tensors }: ConversionStep): string {
  return tensors === 1 ? "1 tensor" : `${tensors} tensors`;
}

function lossOf({ error }: ConversionStep): string {
  if (error.largest === 0) return "exact";
  const steps = error.inSteps.toPrecision(2);
  return `error ${steps} of the source's step (root mean square), at most ${error.largest.toPrecision(2)}`;
}
