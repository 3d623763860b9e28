// Which addresses of a model's text become links or images. Nothing is loaded from another host by showing a text.

/** The address, when a click on it may leave the page; undefined for everything else, such as `javascript:`. */
export function safeLink(address: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)/i.test(address.trim()) && URL.canParse(address.trim())
    ? address.trim()
    : undefined;
}

/** The address of an image that is in the text itself. SVG is left out: it may be a page of its own. */
export function embeddedImage(address: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/.test(address) ? address : undefined;
}
