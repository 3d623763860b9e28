// `data:` URLs of files: the form in which exports and the app keep their bytes.

/** Bytes that are converted at a time: JavaScript engines limit the number of arguments. */
const pieceBytes = 0x8000;

export async function dataUrlOf(data: Blob): Promise<string> {
  const bytes = new Uint8Array(await data.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return `data:${data.type};base64,${btoa(binary)}`;
}

/** The bytes of a `data:` URL; undefined for anything else. The page's Content-Security-Policy does not allow fetching it. */
export function blobOf(url: string): Blob | undefined {
  const [, type, base64] = /^data:([\w.+/-]*);base64,([\w+/=]*)$/.exec(url) ?? [];
  if (type === undefined || base64 === undefined) return undefined;
  try {
    return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
  } catch {
    // DOMException: not base64.
    return undefined;
  }
}
