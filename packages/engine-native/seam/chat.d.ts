// Conversations at the seam to TypeScript: what a model's chat template renders, the prompt that it becomes,
// and what is parsed from a reply.

/** A message. Absent fields are empty strings or arrays. */
export interface NativeMessage {
  role: string;
  content: string;
  /** Replaces `content` in a message with images or audio. */
  parts: NativePart[];
  reasoning: string;
  toolCalls: NativeToolCall[];
  toolCallId: string;
  /** For a tool's result: the tool's name. */
  name: string;
}

/** A part of a message: an image or an audio, or a text if both are null. */
export interface NativePart {
  text: string;
  image: NativeImage | null;
  audio: NativeAudio | null;
}

/** A WAV, FLAC or MP3 file of at most 64 MiB, whose header was checked. The bytes are copied before the call returns. */
export interface NativeAudio {
  data: Uint8Array;
}

/** Three bytes per pixel; at most 16,384 pixels per side and 2^26 in total. The bytes are copied before the call returns. */
export interface NativeImage {
  width: number;
  height: number;
  data: Uint8Array;
}

/** A text that contains the model's `imageMarker` once for each image. */
export interface NativeImageText {
  text: string;
  images: readonly NativeImage[];
}

export interface NativeToolCall {
  id: string;
  name: string;
  /** A JSON object as text; in a partial reply, only its start. */
  arguments: string;
}

export interface NativeTool {
  name: string;
  description: string;
  /** A JSON schema as text, nested at most 64 deep, for the template. */
  parameters: string;
  /**
   * The schema from which llama.cpp takes the grammar and the parser of calls, with names of at most 256 characters: its code
   * recurses. Empty: `parameters`.
   */
  argumentsSchema: string;
}

/** A conversation to render with the model's chat template. */
export interface NativeChat {
  messages: NativeMessage[];
  addGenerationPrompt: boolean;
  /** Whether the last message is the start of the reply. */
  continuesLast: boolean;
  tools: NativeTool[];
  /** GBNF rules for the tools' arguments. */
  toolRules: string;
  /** What they stand for in the grammar of calls; llama.cpp converts the other schemas. */
  argumentRules: NativeArgumentRule[];
  toolChoice: "auto" | "none" | "required";
  parallelToolCalls: boolean;
  enableThinking: boolean;
  /** More variables for the template; the values are JSON. */
  templateArguments: { name: string; value: string }[];
  /**
   * GBNF rules that the reply's content must match, the first of them "ingle-json"; empty for none. With tools that may be
   * called, a reply either matches these rules or consists of calls.
   */
  contentRules: string;
  /** Whether `contentRules` include the calls, in place of llama.cpp's syntax for them. */
  contentHasCalls: boolean;
  /** A GBNF grammar for the whole reply, in place of llama.cpp's for tools; empty for none. Excludes contentRules. */
  grammar: string;
  /** The grammar holds from the first occurrence of this text in the reply; empty: from the start. */
  grammarTrigger: string;
  /** Texts that stand in messages for special tokens, which are recognized there. */
  markup: NativeMarkup[];
  /** Whether special tokens that are spelled in messages, tools and arguments are read as such tokens. */
  specialTokensInContent: boolean;
}

export interface NativeArgumentRule {
  /**
   * "tool-NAME-schema", the object of all arguments of a tool; "tool-NAME-arg-PARAMETER-schema", a value as JSON; or
   * "tool-NAME-arg-PARAMETER-text", a value that is written as it is.
   */
  standsFor: string;
  /** The name of a rule in `toolRules`. */
  rule: string;
}

export interface NativeMarkup {
  /** Letters and digits that are nowhere else in the conversation. */
  placeholder: string;
  text: string;
}

export interface NativeReply {
  content: string;
  reasoning: string;
  calls: NativeToolCall[];
}

/** A model's chat template, or the default one of a file without any, and what it supports. */
export interface NativeChatTemplate {
  source: string;
  /** Whether it renders tools into the prompt. */
  writesTools: boolean;
  /** Whether it renders earlier calls into the prompt. */
  writesToolCalls: boolean;
  /** Whether it renders system messages that are not the first message, and the first one beside them. */
  writesLaterSystem: boolean;
  /** Whether it raises an error where such messages follow each other. */
  refusesUserAfterUser: boolean;
  refusesAssistantAfterAssistant: boolean;
  refusesUserAfterResult: boolean;
  /** Whether calls have LFM2's syntax. */
  isLfm2: boolean;
  /** Whether it renders tools with parameters that may be null: `"type": ["string", "null"]`. */
  writesNullTypes: boolean;
  /** Whether a grammar in its syntax can require either content in a given form or calls that match their tools' schemas. */
  holdsFormOrCalls: boolean;
  /** How its calls write arguments. */
  arguments: NativeArgumentSkills;
}

export interface NativeArgumentSkills {
  /**
   * `json`: as one object. `text`: one by one, strings as they are, up to a certain text, and other values as JSON. `other`: in a way
   * for which there are no rules.
   */
  syntax: "other" | "json" | "text";
  /** The text that ends a string; no string contains it. Empty unless strings are written as they are. */
  end: string;
  /** Whether a value that may be a string or something else is read as JSON if it is JSON; otherwise, it is a string. */
  readsJson: boolean;
}

export interface NativeTemplateResult {
  prompt: string;
  /** Texts that end a turn in the template's format, in addition to the model's end tokens. */
  stops: string[];
}

export interface NativePrompt {
  /** Images and audio have negative ids: each stands for a part of one, and is valid only together with `images`. */
  tokens: Int32Array;
  images: NativeImages | null;
  /** How many of the tokens stand for audio. */
  audioTokens: number;
  stops: string[];
  constraint: NativeConstraint | null;
  /** Null: the whole reply is content. */
  parser: NativeReplyParser | null;
  thought: NativeThoughtSyntax;
}

/** How the chat template marks a thought before a reply. */
export interface NativeThoughtSyntax {
  /** The text before a thought, and those that end it, the usual one first. Empty: there is no thought, or its end is not known. */
  begin: string;
  ends: string[];
  /** Whether the prompt ends inside a thought. */
  isOpen: boolean;
  /** Whether replies may have a thought. */
  mayThink: boolean;
}

/** A prompt in preparation. `abort()` makes `prompt` reject with `aborted`; once it is done, `abort()` does nothing. */
export interface NativePreparation {
  prompt: Promise<NativePrompt>;
  abort(): void;
}

/** The images and audio of a prompt, prepared for the model and not yet encoded. Valid only for engines of the model that made them. */
export interface NativeImages {
  readonly nativeImages: never;
}

/** A parser for replies to one prompt. */
export interface NativeReplyParser {
  readonly nativeReplyParser: never;
}

/** What a reply must look like. Valid only for engines of the model that made it. */
export interface NativeConstraint {
  readonly nativeConstraint: never;
}
