// Which addresses in a text become links or images. Rendering a text never loads anything from another host.

/** The address if it is safe as a link; undefined for everything else, such as `javascript:`. */
export function safeLink(address: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)/i.test(address.trim()) && URL.canParse(address.trim())
    ? address.trim()
    : undefined;
}

/** The address if it is an image embedded in the text. SVG is excluded, since it may contain scripts. */
export function embeddedImage(address: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/.test(address) ? address : undefined;
}
