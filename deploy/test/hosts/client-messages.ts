// The messages between a test and its client on another host.
import type { ChatMessage } from "@ingle/client";

/** A chat request for the client to send. Times of its outcome are milliseconds since it was sent. */
export interface ChatRequest {
  content: string;
  /** Earlier messages, oldest first. */
  history?: readonly ChatMessage[];
  maxTokens: number;
  isStream: boolean;
  /** Default: the client's own. */
  baseUrl?: string;
  /** Sent as x-session-id. Default: none. */
  session?: string;
  apiKey?: string;
  /** Retries of the client library. Default 0, so that they do not hide what the proxy does. */
  maxRetries?: number;
}

export interface ChatOutcome {
  /** Whether the reply is complete: it has a finish reason and the requested number of tokens. */
  isWhole: boolean;
  isStream: boolean;
  /** The client library's error: its name, code and message. */
  error: string | null;
  text: string;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** Milliseconds to the first piece, or to the whole reply if it is not streamed. */
  firstMs: number;
  totalMs: number;
}

export interface HttpRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  /** The body, or the size of a generated JSON string in bytes. */
  body?: string | { bytes: number };
}

export interface HttpOutcome {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export type ClientRequest = { id: number } & ({ chat: ChatRequest } | { http: HttpRequest });
export type Report =
  | { id: number; begun: true }
  | { id: number; chat: ChatOutcome }
  | { id: number; http: HttpOutcome }
  | { id: number; failure: string };
