// TLS between a server and a worker: version 1.3, with the shared secret as a pre-shared key and fresh keys for each connection
// (X25519). Both sides prove that they have the secret, so there are no certificates to manage.
import type { ConnectionOptions, TLSSocket, TlsOptions } from "node:tls";
import type { WorkerKey } from "./worker-key.ts";

/** A pre-shared key is bound to the hash of its cipher suite, and Node supports only SHA-256. */
const ciphers = "TLS_AES_128_GCM_SHA256";

/** TLS options of a worker. A peer without the key fails in the handshake, because the worker has no certificate to fall back to. */
export function workerTls(key: WorkerKey): TlsOptions {
  return {
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers,
    pskCallback: (_socket, id) => (id === key.id ? key.secret : null),
  };
}

/** TLS options of a server that connects to a worker. */
export function peerTls(key: WorkerKey): ConnectionOptions {
  return {
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ciphers,
    pskCallback: () => ({ psk: key.secret, identity: key.id }),
    // Trust no certificate: without these two options, a certificate of any public authority would be accepted.
    ca: [],
    checkServerIdentity: () => new Error("A worker authenticates with its key, not with a certificate."),
  };
}

/** Whether the other side has proved that it has the key. Node reports a pre-shared key as a resumed session. */
export function hasProvedKey(socket: TLSSocket): boolean {
  return socket.getProtocol() === "TLSv1.3" && socket.isSessionReused();
}
