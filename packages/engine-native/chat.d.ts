// Conversations as they cross the seam to TypeScript: what is written out with a model's chat template, and what is read of
// a reply. A part of index.d.ts.

/** What is not there is an empty string or array. */
export interface NativeMessage {
  role: string;
  content: string;
  /** Instead of `content` where there are pictures. */
  parts: NativePart[];
  reasoning: string;
  toolCalls: NativeToolCall[];
  toolCallId: string;
  /** Of a tool's result: the tool's name. */
  name: string;
}

/** A picture, or a text where that is null. */
export interface NativePart {
  text: string;
  image: NativeImage | null;
}

/** Three bytes a pixel, up to 16,384 a side and 2^26 of them. The bytes are copied before the call returns. */
export interface NativeImage {
  width: number;
  height: number;
  data: Uint8Array;
}

/** A text with as many of the model's `imageMarker` as there are images. */
export interface NativeImageText {
  text: string;
  images: readonly NativeImage[];
}

export interface NativeToolCall {
  id: string;
  name: string;
  /** A JSON object as text; of a partial reply, its beginning. */
  arguments: string;
}

export interface NativeTool {
  name: string;
  description: string;
  /** A JSON schema as text. Not nested deeper than 64, with names no longer than 256: llama.cpp's own code recurses. */
  parameters: string;
}

/** A conversation to be written out with the model's chat template. */
export interface NativeChat {
  messages: NativeMessage[];
  addGenerationPrompt: boolean;
  /** The last message is the beginning of the reply. */
  continuesLast: boolean;
  tools: NativeTool[];
  toolChoice: "auto" | "none" | "required";
  parallelToolCalls: boolean;
  enableThinking: boolean;
  /** More variables for the template; the values are JSON. */
  templateArguments: { name: string; value: string }[];
  /**
   * GBNF rules for the reply's content, the first of them "ingle-json"; empty without. Together with tools that may be called,
   * a reply is of these rules or calls.
   */
  contentRules: string;
  /** The calls are among `contentRules`, instead of llama.cpp's syntax for them. */
  contentHasCalls: boolean;
  /** A GBNF grammar for the whole reply, instead of llama.cpp's for the tools; empty without. Not with contentRules. */
  grammar: string;
  /** The grammar holds from this text on, wherever it comes in the reply; empty: from the beginning. */
  grammarTrigger: string;
}

export interface NativeReply {
  content: string;
  reasoning: string;
  calls: NativeToolCall[];
}
