// Turns an SVG from Mermaid into the data URL of a self-contained image. Pure.
import { decodeEntities } from "./untrusted-text.ts";

export interface DiagramImage {
  /** A `data:` URL. An image runs no scripts, loads nothing and has an opaque origin, even when it is opened in a tab. */
  url: string;
  /** In CSS pixels. */
  width: number;
  height: number;
}

/** For an SVG without a valid viewBox. */
const fallbackSize = { width: 800, height: 600 };

/** Character references in labels: `&amp;`, and `&amp;hearts;` for a `#hearts;` in the source. */
const reference = /&(?:amp;)?(#?\w+);/g;

/** Characters that XML does not allow, not even as references. */
const notInXml = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;

/** `svg` is XML, except that it may contain HTML's character references; `rules` is its CSS. */
export function toDiagramImage(svg: string, rules: string): DiagramImage {
  const { width, height } = viewBoxSize(svg);
  const start = svg.indexOf(">") + 1;
  // An image needs a fixed size: there is no page around it to fit into.
  const root = svg
    .slice(0, start)
    .replace(/\s(?:width|height|style)="[^"]*"/g, "")
    .replace(/^<svg\b/, `<svg width="${width}" height="${height}"`);
  const style = `<style>${escapeXml(rules)}</style>`;
  const inside = svg.slice(start).replaceAll(reference, (_whole, name: string) => plain(`&${name};`));
  const text = (root + style + inside).replaceAll(notInXml, "");
  return { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height };
}

function viewBoxSize(svg: string): { width: number; height: number } {
  const [, box] = /^<svg\b[^>]*\sviewBox="([^"]*)"/.exec(svg) ?? [];
  const [, , width, height] = (box ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return fallbackSize;
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

/** The character of a reference, escaped for XML. */
function plain(entity: string): string {
  return escapeXml(decodeEntities(entity)).replaceAll('"', "&quot;");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
