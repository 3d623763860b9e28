// Extracts the text of a Word document (.docx): a ZIP file with XML in it. This chunk is loaded with the first such document.
import { unzip, type UnzipFileInfo } from "fflate";

/** The XML of a long book has less. Without a limit, a small file could unpack to any size. */
const partBytesMax = 32 * 1024 * 1024;

/** Main text, then notes. */
const partNames = [/^word\/document\d*\.xml$/, /^word\/footnotes\.xml$/, /^word\/endnotes\.xml$/];

/** The text with headings and lists in Markdown, cells of tables between tabs; undefined if the file is damaged, protected or too large inside. */
export async function docxText(bytes: ArrayBuffer): Promise<string | undefined> {
  const parts = await unzipParts(new Uint8Array(bytes));
  if (parts === undefined) return undefined;
  const texts: string[] = [];
  for (const xml of parts) {
    const text = partText(xml);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.filter((text) => text !== "").join("\n\n");
}

/** The XML of the parts, of which the first must exist. */
async function unzipParts(bytes: Uint8Array): Promise<string[] | undefined> {
  const isWanted = ({ name, originalSize }: UnzipFileInfo) =>
    originalSize <= partBytesMax && partNames.some((pattern) => pattern.test(name));
  const files = await new Promise<Record<string, Uint8Array> | undefined>((resolve) => {
    // The size that a file states is also the most that is unpacked of it.
    unzip(bytes, { filter: isWanted }, (error, found) => resolve(error === null ? found : undefined));
  });
  if (files === undefined) return undefined;
  const names = partNames.flatMap((pattern) =>
    Object.keys(files)
      .filter((name) => pattern.test(name))
      .slice(0, 1),
  );
  if (names[0] === undefined || partNames[0]?.test(names[0]) !== true) return undefined;
  return names.map((name) => new TextDecoder().decode(files[name]));
}

function partText(xml: string): string | undefined {
  // Word writes none; entities could make a short text long.
  if (/<!DOCTYPE/i.test(xml)) return undefined;
  const document = new DOMParser().parseFromString(xml, "application/xml");
  if (document.querySelector("parsererror") !== null) return undefined;
  const lines: string[] = [];
  // A walk without recursion: tables may be nested as deeply as a file likes. What is inside a table becomes lines of its rows.
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!(node instanceof Element)) continue;
    if (node.localName === "p") addParagraph(lines, node);
  }
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** A paragraph becomes a line of its own, or continues the line of its table's row. */
function addParagraph(lines: string[], paragraph: Element): void {
  const text = paragraphText(paragraph);
  const cell = parentNamed(paragraph, "tc");
  const isFirstInCell = cell !== null && firstChildNamed(cell, "p") === paragraph;
  const isFirstInRow =
    cell !== null && cell.parentElement !== null && firstChildNamed(cell.parentElement, "tc") === cell;
  if (cell !== null && isFirstInCell && !isFirstInRow && lines.length > 0)
    lines.push(`${lines.pop() ?? ""}\t${text}`);
  else if (cell !== null) lines.push(text);
  else lines.push(`${markdownPrefix(paragraph)}${text}`, "");
}

function paragraphText(paragraph: Element): string {
  let text = "";
  const walker = paragraph.ownerDocument.createTreeWalker(paragraph, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!(node instanceof Element) || parentNamed(node, "p") !== paragraph) continue;
    // Deleted text of tracked changes is `delText`, instructions of fields `instrText`.
    if (node.localName === "t") text += node.textContent ?? "";
    else if (node.localName === "tab" && node.parentElement?.localName === "r") text += "\t";
    else if (node.localName === "br" || node.localName === "cr") text += "\n";
    else if (node.localName === "noBreakHyphen") text += "-";
  }
  return text;
}

/** Headings and items of lists as in Markdown, as far as the paragraph itself says what it is. */
function markdownPrefix(paragraph: Element): string {
  const properties = firstChildNamed(paragraph, "pPr");
  if (properties === null) return "";
  const style = readValue(firstChildNamed(properties, "pStyle"));
  const level = Number(/^(?:heading|berschrift|Überschrift)\s?([1-6])$/i.exec(style)?.[1] ?? 0);
  if (level > 0) return `${"#".repeat(level)} `;
  return firstChildNamed(properties, "numPr") === null ? "" : "- ";
}

function readValue(element: Element | null): string {
  return [...(element?.attributes ?? [])].find(({ localName }) => localName === "val")?.value ?? "";
}

function firstChildNamed(element: Element, name: string): Element | null {
  for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling)
    if (child.localName === name) return child;
  return null;
}

/** The nearest element above with this name, inside the same paragraph's text or its cell. */
function parentNamed(element: Element, name: string): Element | null {
  for (let above = element.parentElement; above !== null; above = above.parentElement) {
    if (above.localName === name) return above;
    if (above.localName === "body") return null;
  }
  return null;
}
