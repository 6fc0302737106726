// A private certificate authority, created by each test that needs one.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import * as x509 from "@peculiar/asn1-x509";

/** A certificate and its key, PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** A private authority. */
export interface Authority {
  /** Its own certificate, PEM. */
  readonly cert: string;
  /** Issues a certificate for a host, valid for a day around now unless said otherwise. */
  issue(host: string, times?: { readonly notBefore?: Date; readonly notAfter?: Date }): Issued;
}

const day = 24 * 60 * 60 * 1000;
const [ecdsaWithSha256, commonName] = ["1.2.840.10045.4.3.2", "2.5.4.3"];

/** Makes an authority. */
export function newAuthority(name = "Test authority"): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = nameOf(name);
  const isAuthority = extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: true }));
  return {
    cert: signed(privateKey, issuer, issuer, publicKey, [isAuthority], {}),
    issue(host, times = {}) {
      const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = new x509.SubjectAlternativeName([
        new x509.GeneralName(isIPv4(host) ? { iPAddress: host } : { dNSName: host }),
      ]);
      const extensions = [extension(x509.id_ce_subjectAltName, names)];
      return {
        cert: signed(privateKey, issuer, nameOf(host), leaf.publicKey, extensions, times),
        key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

function signed(
  authorityKey: KeyObject,
  issuer: x509.Name,
  subject: x509.Name,
  publicKey: KeyObject,
  extensions: x509.Extension[],
  { notBefore = new Date(Date.now() - day), notAfter = new Date(Date.now() + day) },
): string {
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const spki = AsnConvert.parse(publicKey.export({ type: "spki", format: "der" }), x509.SubjectPublicKeyInfo);
  const body = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: new Uint8Array([0x40, ...randomBytes(15)]).buffer,
    signature: algorithm,
    issuer,
    subject,
    validity: new x509.Validity({ notBefore, notAfter }),
    subjectPublicKeyInfo: spki,
    extensions: new x509.Extensions(extensions),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(body)), authorityKey);
  const certificate = new x509.Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  const base64 =
    Buffer.from(AsnConvert.serialize(certificate))
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${base64.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function extension(extnID: string, value: object): x509.Extension {
  return new x509.Extension({ extnID, critical: true, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(text: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: text });
  return new x509.Name([
    new x509.RelativeDistinguishedName([new x509.AttributeTypeAndValue({ type: commonName, value })]),
  ]);
}
