// Keys that are made in the browser: the server gets the public key only.

/** A new key pair as JSON Web Keys. */
export interface NewKey {
  /** The public key as a JSON Web Key Set: `issuer_keys` of an identity. */
  readonly publicKeys: string;
  /** The private key as a JSON Web Key. */
  readonly privateKey: string;
  /** Signs a token with these claims. */
  readonly sign: (claims: Readonly<Record<string, string | number>>) => Promise<string>;
}

const algorithm = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};

/** Makes a key pair for RS256. */
export async function newKey(): Promise<NewKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const kid = base64url(crypto.getRandomValues(new Uint8Array(8)));
  const about = { kid, alg: "RS256", use: "sig" };
  const jwkOf = async (key: CryptoKey) => {
    // Web Crypto adds its own notes to the members of RFC 7517.
    const { key_ops: _operations, ext: _extractable, ...jwk } = await crypto.subtle.exportKey("jwk", key);
    return { ...jwk, ...about };
  };
  return {
    publicKeys: JSON.stringify({ keys: [await jwkOf(publicKey)] }),
    privateKey: JSON.stringify(await jwkOf(privateKey), undefined, 2),
    async sign(claims) {
      const parts = [{ alg: "RS256", kid, typ: "JWT" }, claims].map((part) =>
        base64url(new TextEncoder().encode(JSON.stringify(part))),
      );
      const text = parts.join(".");
      const signature = await crypto.subtle.sign(algorithm.name, privateKey, new TextEncoder().encode(text));
      return `${text}.${base64url(new Uint8Array(signature))}`;
    },
  };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
