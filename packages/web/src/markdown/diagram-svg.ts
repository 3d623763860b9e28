// What Mermaid drew becomes the address of an image that stands alone. Pure.
import { decodeEntities } from "./entities.ts";

export interface DiagramImage {
  /** A `data:` URL: an image runs no scripts, loads nothing and has an origin of its own, even when it is opened in a tab. */
  url: string;
  /** In CSS pixels. */
  width: number;
  height: number;
}

/** For an SVG that says nothing of its size. */
const fallbackSize = { width: 800, height: 600 };

/** Of what XML escapes by names, and what labels hold: `&amp;`, and `&amp;hearts;` where somebody wrote `#hearts;`. */
const reference = /&(?:amp;)?(#?\w+);/g;

/** XML has no place for these, however they are written. */
const notInXml = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;

/** `svg` is XML but for HTML's character references in it, and `rules` its CSS. */
export function toDiagramImage(svg: string, rules: string): DiagramImage {
  const { width, height } = sizeOf(svg);
  const start = svg.indexOf(">") + 1;
  // An image has no page around it to fit into: it says its size itself.
  const root = svg
    .slice(0, start)
    .replace(/\s(?:width|height|style)="[^"]*"/g, "")
    .replace(/^<svg\b/, `<svg width="${width}" height="${height}"`);
  const style = `<style>${escapeXml(rules)}</style>`;
  const inside = svg.slice(start).replaceAll(reference, (_whole, name: string) => plain(`&${name};`));
  const text = (root + style + inside).replaceAll(notInXml, "");
  return { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height };
}

function sizeOf(svg: string): { width: number; height: number } {
  const [, box] = /^<svg\b[^>]*\sviewBox="([^"]*)"/.exec(svg) ?? [];
  const [, , width, height] = (box ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return fallbackSize;
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

/** The character that is meant, as XML writes it in a text or an attribute. */
function plain(entity: string): string {
  return escapeXml(decodeEntities(entity)).replaceAll('"', "&quot;");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
