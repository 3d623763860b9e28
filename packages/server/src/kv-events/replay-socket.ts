// The ROUTER socket: who has missed a number asks for what was published from there on, and gets it, as vLLM answers:
//
//   asked     "" · number (8 bytes)
//   answered  "" · topic · number · payload, for each; then "" · "" · -1 · ""
import type { TcpEndpoint } from "./endpoint.ts";
import { sequenceFrame, type EventLog } from "./event-log.ts";
import { bindSocket, encodeMessage, type BoundSocket, type Peer } from "./zmtp.ts";

/** Who asks again before it has taken what it asked for is hung up on. */
const unsentBytesMax = 1024 * 1024;

const nothing = new Uint8Array(0);
/** An empty frame with another behind it. */
const delimiter = Uint8Array.of(1, 0);
const end = encodeMessage([nothing, nothing, sequenceFrame(0xffff_ffff_ffff_ffffn), nothing]);

export async function bindReplaySocket(endpoint: TcpEndpoint, log: EventLog): Promise<BoundSocket> {
  return await bindSocket<Peer>("ROUTER", endpoint, {
    opened: (peer) => peer,
    message: ([empty, number, ...more], peer) => {
      if (empty?.length !== 0 || number?.length !== 8 || more.length > 0 || peer.unsent > unsentBytesMax)
        return peer.close();
      const first = number.readBigUInt64BE();
      // Numbers that are no array's lie behind everything.
      const events = first > BigInt(Number.MAX_SAFE_INTEGER) ? [] : log.from(Number(first));
      for (const { message } of events) peer.send(Buffer.concat([delimiter, message]));
      peer.send(end);
    },
    command: () => {},
    closed: () => {},
  });
}
