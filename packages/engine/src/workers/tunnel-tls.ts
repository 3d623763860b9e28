// TLS between a server and a worker: version 1.3, with the shared secret as a pre-shared key and fresh keys for each
// connection (X25519). Both sides prove that they have the secret; there are no certificates that could be wrong or old.
import type { ConnectionOptions, TLSSocket, TlsOptions } from "node:tls";
import type { WorkerKey } from "./worker-key.ts";

/** The hash of a pre-shared key is that of its cipher suite, and Node hands keys over for SHA-256. */
const ciphers = "TLS_AES_128_GCM_SHA256";

/** Who does not have the key fails in the handshake: the worker has no certificate that it could fall back to. */
export function workerTls(key: WorkerKey): TlsOptions {
  return {
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers,
    pskCallback: (_socket, id) => (id === key.id ? key.secret : null),
  };
}

export function peerTls(key: WorkerKey): ConnectionOptions {
  return {
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers,
    pskCallback: () => ({ psk: key.secret, identity: key.id }),
    // No certificate of the world's is one of a worker's: without these two, one that anybody can buy would do.
    ca: [],
    checkServerIdentity: () => new Error("A worker proves itself by the key, not by a certificate."),
  };
}

/** Whether the other side has proved that it has the key. Node shows a pre-shared key as a session that is resumed. */
export function hasProvedKey(socket: TLSSocket): boolean {
  return socket.getProtocol() === "TLSv1.3" && socket.isSessionReused();
}
