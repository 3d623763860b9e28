// A small PDF file for tests.

/**
 * One page with a line in each font, none of which is embedded. The lines are ASCII without brackets and backslashes. Without lines,
 * the page has no text, like a scanned page.
 */
export function pdfFile(lines: Readonly<Record<string, string>>): Buffer {
  const fonts = Object.keys(lines);
  const content = Object.values(lines)
    .map((line, at) => `BT /F${at} 12 Tf 72 ${700 - at * 20} Td (${line}) Tj ET`)
    .join("\n");
  const names = fonts.map((_font, at) => `/F${at} ${at + 5} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << ${names} >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...fonts.map((font) => `<< /Type /Font /Subtype /Type1 /BaseFont /${font} >>`),
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size ${size} /Root 1 0 R >>\n`;
  file += `startxref\n${file.lastIndexOf("xref")}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
