// The certificate that tells a registry whose tokens to accept.
import { createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto";

/** The certificate's lifetime: registries read it from a file that is not renewed automatically. */
const lifetimeMs = 20 * 365 * 24 * 60 * 60 * 1000;

/** Tolerance for registries whose clock is behind. */
const registrySkewMs = 60_000;

// RFC 4055 §5, RFC 5280 appendix A.1.
const sha256WithRsa = "1.2.840.113549.1.1.11";
const commonName = "2.5.4.3";

/**
 * Creates a self-signed certificate (RFC 5280 §4.1) for an RSA key, as PEM.
 *
 * The ASN.1 library is imported here because it is needed once in the life of an installation.
 */
export async function newCertificate(privateKey: KeyObject, name: string, now: number): Promise<string> {
  const { AsnConvert, OctetString } = await import("@peculiar/asn1-schema");
  const x509 = await import("@peculiar/asn1-x509");
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: sha256WithRsa, parameters: null });
  const value = new x509.AttributeValue({ utf8String: name });
  const subject = new x509.Name([
    new x509.RelativeDistinguishedName([new x509.AttributeTypeAndValue({ type: commonName, value })]),
  ]);
  const constraints = AsnConvert.serialize(new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 }));
  const body = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: newSerial(),
    signature: algorithm,
    issuer: subject,
    subject,
    validity: new x509.Validity({ notBefore: new Date(now - registrySkewMs), notAfter: new Date(now + lifetimeMs) }),
    subjectPublicKeyInfo: AsnConvert.parse(publicKeyInfo(privateKey), x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([
      new x509.Extension({
        extnID: x509.id_ce_basicConstraints,
        critical: true,
        extnValue: new OctetString(constraints),
      }),
    ]),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(body)), privateKey);
  const certificate = new x509.Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  return toPem(Buffer.from(AsnConvert.serialize(certificate)));
}

/** Returns the key as a certificate contains it. */
export function publicKeyInfo(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ type: "spki", format: "der" });
}

// RFC 5280 §4.1.2.2: positive, at most 20 octets, unpredictable.
function newSerial(): ArrayBuffer {
  const serial = new Uint8Array(randomBytes(16));
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  return serial.buffer;
}

// RFC 7468 §5.
function toPem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
