// A bar chart as SVG text, readable on light and dark pages, with no external resources.
import { formatNumber } from "./comparison.ts";

interface Bar {
  name: string;
  /** Negative values are shown as a number without a bar. */
  value: number;
  /** The label after the bar. Default: the value. */
  label?: string;
  isOurs: boolean;
}

/** Bars that share a scale. */
export interface BarGroup {
  title: string;
  note: string;
  bars: readonly Bar[];
}

interface BarChart {
  title: string;
  subtitle: string;
  groups: readonly BarGroup[];
  footer: string;
}

// Lengths in pixels at the chart's own size; the chart scales as a whole.
const width = 720;
const margin = 20;
const nameWidth = 130;
const valueWidth = 90;
const barHeight = 18;
const barStep = 26;
const lineHeight = 18;
const groupGap = 22;
const barWidthMax = width - 2 * margin - nameWidth - valueWidth;
/** Characters of small text that fit on a line. */
const lineCharacters = 100;

const style = `
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.group { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.ours { fill: #c2410c }
.peer { fill: #8b949e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .ours { fill: #fb923c }
  .peer { fill: #656d76 }
}`;

/** The chart has no background and follows the reader's preferred colour scheme. */
export function drawBars(chart: BarChart): string {
  const parts: string[] = [];
  let y = margin;
  const text = (words: string, x: number, kind: string): void => {
    parts.push(`<text class="${kind}" x="${x}" y="${y}">${escapeXml(words)}</text>`);
  };
  const line = (words: string, kind: string): void => {
    y += lineHeight;
    text(words, margin, kind);
  };
  line(chart.title, "title");
  for (const words of wrap(chart.subtitle, lineCharacters)) line(words, "small");
  y += lineHeight / 2;
  for (const group of chart.groups) {
    y += groupGap;
    text(group.title, margin, "group");
    line(group.note, "small");
    y += lineHeight / 2;
    const largest = Math.max(...group.bars.map(({ value }) => value), Number.MIN_VALUE);
    for (const bar of group.bars) {
      parts.push(drawBar(bar, y, largest));
      y += barStep;
    }
  }
  for (const words of wrap(chart.footer, lineCharacters)) line(words, "small");
  const height = y + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(`${chart.title}: ${chart.subtitle}`)}</title>`,
    `<style>${style}\n</style>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function drawBar(
  { name, value, label = formatNumber(value), isOurs }: Bar,
  top: number,
  largest: number,
): string {
  const left = margin + nameWidth;
  const length = Math.max(1, Math.round((barWidthMax * value) / largest));
  const baseline = top + barHeight - 5;
  return [
    `<text x="${margin}" y="${baseline}">${escapeXml(name)}</text>`,
    `<rect class="${isOurs ? "ours" : "peer"}" x="${left}" y="${top}" width="${length}" height="${barHeight}" rx="3"/>`,
    `<text x="${left + length + 8}" y="${baseline}">${escapeXml(label)}</text>`,
  ].join("\n");
}

/** Breaks a text at spaces into lines of at most this many characters. */
function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function escapeXml(text: string): string {
  const names: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
  };
  return text.replaceAll(/[&<>"']/g, (character) => names[character] ?? "");
}
