// Extracts the text of a PDF with pdf.js in a web worker. This chunk is loaded with the first PDF.
import { getDocument, GlobalWorkerOptions, VerbosityLevel } from "pdfjs-dist";
// Vite turns this into the URL of a file.
// oxlint-disable-next-line import/default
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

GlobalWorkerOptions.workerSrc = workerUrl;

/** A long book; more text would not fit a context. */
const pagesMax = 1_000;

/** The text of all pages, with a form feed between them; undefined if the file is damaged or password-protected. */
export async function pdfText(bytes: ArrayBuffer): Promise<string | undefined> {
  // Only text is extracted: rendering features stay off, and missing fonts are not worth a warning.
  const task = getDocument({
    data: bytes,
    disableFontFace: true,
    useWasm: false,
    isImageDecoderSupported: false,
    useSystemFonts: true,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    const document = await task.promise;
    const pages: string[] = [];
    for (let number = 1; number <= Math.min(document.numPages, pagesMax); number += 1) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      pages.push(items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join(""));
      page.cleanup();
    }
    // Blank pages too, so that the numbers of those after them are right.
    return pages.map((page) => page.trim()).join("\f");
  } catch (error) {
    if (error instanceof Error && error.name.endsWith("Exception")) return undefined;
    throw error;
  } finally {
    await task.destroy();
  }
}
