// The text of a PDF file, read by pdf.js in a worker of its own. A part that is loaded with the first such file.
import { getDocument, GlobalWorkerOptions, VerbosityLevel } from "pdfjs-dist";
// Vite makes the address of a file of it.
// oxlint-disable-next-line import/default
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

GlobalWorkerOptions.workerSrc = workerUrl;

/** A book; longer ones would not fit a context either. */
const pagesMax = 1_000;

/** The text, page by page; undefined when the file is damaged, or locked by a password. */
export async function pdfText(bytes: ArrayBuffer): Promise<string | undefined> {
  // Nothing is drawn: no fonts are made, nothing is compiled, and what is missing for drawing is no reason to warn.
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
    return pages
      .map((page) => page.trim())
      .filter((page) => page !== "")
      .join("\n\n");
  } catch (error) {
    if (error instanceof Error && error.name.endsWith("Exception")) return undefined;
    throw error;
  } finally {
    await task.destroy();
  }
}
