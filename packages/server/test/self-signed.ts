// A fresh self-signed certificate for localhost, written in DER here: Node can read certificates but not make them, and the repository
// should not contain a private key.
import { generateKeyPairSync, sign } from "node:crypto";

const tags = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
};
const ecdsaWithSha256 = sequence(der(tags.oid, Buffer.from("2a8648ce3d040302", "hex")));
const commonName = der(tags.oid, Buffer.from("550403", "hex"));
const subjectAltName = der(tags.oid, Buffer.from("551d11", "hex"));

export interface SelfSigned {
  /** PEM. */
  cert: string;
  key: string;
}

/** Valid for the name `localhost`, for this century. */
export function selfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(tags.set, sequence(commonName, der(tags.utf8, Buffer.from("localhost")))));
  const validity = sequence(time("20200101000000Z"), time("20991231235959Z"));
  const localhost = sequence(der(0x82, Buffer.from("localhost")));
  const extensions = der(0xa3, sequence(sequence(subjectAltName, der(tags.octets, localhost))));
  const body = sequence(
    der(0xa0, der(tags.integer, Buffer.from([2]))), // X.509 version 3
    der(tags.integer, Buffer.from([1])), // serial number
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    extensions,
  );
  const signature = der(tags.bits, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(tags.sequence, Buffer.concat(parts));
}

function time(text: string): Buffer {
  return der(tags.time, Buffer.from(text));
}
