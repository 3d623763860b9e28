// Cuts the output of a server's process into messages, one a line. Each piece is decoded when it arrives: a buffer that is joined with
// every piece blocks for long while a long line arrives.
import { StringDecoder } from "node:string_decoder";
import { deserializeMessage, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { MessageMeter } from "./message-limit.ts";

const lineEnd = 0x0a;

/** In place of the SDK's ReadBuffer. */
export class MessageBuffer {
  /** Whole lines. */
  #lines: string[] = [];
  /** The pieces of the line that is arriving. */
  #pieces: string[] = [];
  #meter = new MessageMeter();
  #decoder = new StringDecoder("utf8");

  /** Throws MessageTooLarge. */
  append(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(lineEnd); end !== -1; end = rest.indexOf(lineEnd)) {
      this.#add(rest.subarray(0, end));
      this.#lines.push(this.#pieces.join("") + this.#decoder.end());
      this.#startLine();
      rest = rest.subarray(end + 1);
    }
    this.#add(rest);
  }

  /** The next message. Null if none is complete. Lines that are not JSON are left out: programs print all kinds of things. */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      try {
        return deserializeMessage(line);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    return null;
  }

  clear(): void {
    this.#lines = [];
    this.#startLine();
  }

  #startLine(): void {
    this.#pieces = [];
    this.#meter = new MessageMeter();
    this.#decoder = new StringDecoder("utf8");
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#meter.add(piece);
    this.#pieces.push(this.#decoder.write(piece));
  }
}
