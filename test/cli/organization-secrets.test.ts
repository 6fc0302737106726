// `gatehouse iam organizations export --recipient` and `import --recipient-key`: client secrets that only the recipient can read.
import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { CompactEncrypt } from "jose";
import { newChild } from "../../src/model/uid.ts";
import { decryptClientSecret, encryptClientSecret } from "../../src/services/iam/identity-providers/client-secret.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { identityProviderCollection } from "../../src/storage/iam/collections.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { addProvider } from "../security/provider-tree.ts";
import { addCaller, ownerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

const secret = "canary-client-secret";

/** Keys of each kind that a recipient may have. */
const keyPairs = {
  "P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
  X25519: generateKeyPairSync("x25519"),
  RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const [p256, other] = [keyPairs["P-256"], generateKeyPairSync("ec", { namedCurve: "P-256" })];

const pemOf = (key: KeyObject) =>
  key.export({ type: key.type === "public" ? "spki" : "pkcs8", format: "pem" }) as string;

describe("client secrets of an exported organization", () => {
  let source: Caller;
  let target: Caller;
  let group: string;
  let provider: string;
  const encryptionOf = ({ server }: Caller) => newEncryption(server.config.secretsKeys);
  before(async () => {
    const secretsKey = (seed: number) => Buffer.alloc(32, seed).toString("base64");
    [source, target] = (await Promise.all(
      [1, 2].map((seed) => startCaller({ settings: { secretsKey: secretsKey(seed) } })),
    )) as [Caller, Caller];
    const { server } = source;
    group = server.groupUid;
    const uid = newChild(group);
    const clientSecret = encryptClientSecret(encryptionOf(source), uid, secret);
    provider = await addProvider(server, group, { uid, name: "sso", clientSecret, pkceEnabled: false });
  });
  after(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  function write(name: string, content: string, mode = 0o600): string {
    const file = path.join(source.home, name);
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  }

  /** Exports the organization as its owner, who is an operator too. */
  async function exporting(...flags: string[]) {
    const file = path.join(source.home, "acme.ndjson");
    const { code, stderr } = await source.run("iam", "organizations", "export", group, file, ...flags);
    return { file, code, stderr };
  }
  const importing = (file: string, ...flags: string[]) =>
    target.run("iam", "organizations", "import", file, "--existing", ...flags);

  async function storedSecret(): Promise<string | undefined> {
    const row = await findRow(target.server.server.database.session, identityProviderCollection, provider);
    return row && decryptClientSecret(encryptionOf(target), row);
  }

  it("are left out without a recipient, and the export and the import name what to set again", async () => {
    const { file, code, stderr } = await exporting();
    assert.equal(code, 0, stderr);
    const named = `the client secret of the identity provider sso (${provider}): set it again`;
    assert.ok(stderr.includes(named), stderr);
    assert.ok(!readFileSync(file, "utf8").includes("encryptedClientSecret"));
    const imported = await importing(file);
    assert.equal(imported.code, 0, imported.stdout);
    assert.ok(imported.stderr.includes(named), imported.stderr);
    assert.equal(await storedSecret(), undefined);
  });

  for (const [kind, { publicKey, privateKey }] of Object.entries(keyPairs)) {
    it(`travel encrypted for a key of the kind ${kind}, and arrive once`, async () => {
      const { file, code, stderr } = await exporting("--recipient", write("public.pem", pemOf(publicKey), 0o644));
      assert.equal(code, 0, stderr);
      assert.ok(!stderr.includes("client secret"), stderr);
      const text = readFileSync(file, "utf8");
      assert.match(providerLine(text), /"encryptedClientSecret":"ey/);
      assert.ok(!text.includes(secret));
      const withoutKey = await importing(file);
      assert.equal(withoutKey.code, 0, withoutKey.stderr);
      const key = ["--recipient-key", write("private.jwk", JSON.stringify(privateKey.export({ format: "jwk" })))];
      const imported = await importing(file, ...key);
      assert.equal(imported.code, 0, imported.stdout + imported.stderr);
      assert.ok(!imported.stderr.includes("client secret"), imported.stderr);
      assert.equal(await storedSecret(), secret);
      const again = await importing(file, "--dry-run", ...key);
      assert.match(again.stdout, /^would be updated: nothing$/m);
    });
  }

  it("show in a difference that they change, not what they are", async () => {
    const { file } = await exporting("--recipient", write("public.pem", pemOf(p256.publicKey)));
    const jwe = await encryptFor(p256.publicKey, {
      identityProvider: provider,
      issuer: issuerOf(file),
      clientSecret: "next",
    });
    const changed = write("changed.ndjson", withSecret(file, jwe));
    const key = ["--recipient-key", write("private.pem", pemOf(p256.privateKey))];
    const { stdout } = await importing(changed, "--dry-run", ...key);
    assert.match(stdout, /^~ line \d+: identity provider sso \(.*\); oidc\.client_secret: secret → secret$/m);
    assert.equal(await storedSecret(), secret);
  });

  it("go to no other provider or issuer if the file was edited", async () => {
    const { file } = await exporting("--recipient", write("public.pem", pemOf(p256.publicKey)));
    const key = ["--recipient-key", write("private.pem", pemOf(p256.privateKey))];
    const issuer = issuerOf(file);
    const text = readFileSync(file, "utf8");
    const jwe = (JSON.parse(providerLine(text)) as { encryptedClientSecret: string }).encryptedClientSecret;
    const another = await encryptFor(p256.publicKey, {
      identityProvider: `${group}/0000000000000001`,
      issuer,
      clientSecret: "x",
    });
    const wrongType = await encryptFor(
      p256.publicKey,
      { identityProvider: provider, issuer, clientSecret: "x" },
      "JWT",
    );
    const cases: readonly (readonly [string, RegExp])[] = [
      [text.replace(issuer, "https://attacker.example.org"), /is of another identity provider or issuer/],
      [withSecret(file, another), /is of another identity provider or issuer/],
      [withSecret(file, wrongType), /must have the type gatehouse-client-secret\+jwe/],
      [withSecret(file, `${jwe.slice(0, -4)}AAAA`), /does not decrypt/],
      [text.replace('{"group":', `{"encryptedClientSecret":"${jwe}","group":`), /belongs to an identity provider/],
    ];
    for (const [content, expected] of cases) {
      const { code, stderr, stdout } = await importing(write("edited.ndjson", content), ...key);
      assert.equal(code, 1);
      assert.match(stderr, expected);
      assert.equal(stdout, "");
    }
    assert.equal(await storedSecret(), secret);
  });

  it("need a key of the right kind, that others cannot read", async () => {
    const { file } = await exporting("--recipient", write("public.pem", pemOf(p256.publicKey)));
    const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const signing = generateKeyPairSync("ed25519");
    const exports: readonly (readonly [string, RegExp])[] = [
      [write("key.pem", pemOf(p256.privateKey)), /has a private key/],
      [write("key.jwk", JSON.stringify(p256.privateKey.export({ format: "jwk" }))), /has a private key/],
      [write("text.pem", "none"), /does not hold a public key/],
      [path.join(source.home, "missing.pem"), /cannot be read/],
      [write("small.pem", pemOf(small.publicKey)), /RSA key of 1024 bits/],
      [write("signing.pem", pemOf(signing.publicKey)), /must be an RSA, P-256, P-384, P-521 or X25519 key/],
    ];
    for (const [recipient, expected] of exports) {
      const { code, stderr } = await exporting("--recipient", recipient);
      assert.notEqual(code, 0);
      assert.match(stderr, expected);
    }
    const imports: readonly (readonly [string, RegExp])[] = [
      [write("readable.pem", pemOf(p256.privateKey), 0o644), /can be read by others; set its mode to 0600/],
      [write("other.pem", pemOf(other.privateKey)), /line \d+: encryptedClientSecret: does not decrypt/],
      [write("public.pem", pemOf(p256.publicKey)), /does not hold a private key/],
    ];
    for (const [key, expected] of imports) {
      const { code, stderr } = await importing(file, "--recipient-key", key);
      assert.notEqual(code, 0);
      assert.match(stderr, expected);
    }
  });

  it("are for operators only, and the audit log has each export", async () => {
    const { server } = source;
    const { token } = await addCaller(server, group, ownerRole.uid);
    const recipient = write("public.pem", pemOf(p256.publicKey));
    const file = path.join(source.home, "denied.ndjson");
    const environment = { GATEHOUSE_TOKEN: token };
    const args = ["iam", "organizations", "export", group, file, "--recipient", recipient];
    const { code, stderr } = await source.runWith(environment, ...args);
    assert.equal(code, 1);
    assert.match(stderr, /internal/);
    const place = ["--parent", group, "--kind", "client_secret_exports"];
    const { items } = await source.json("changes", "list", ...place);
    assert.ok(items.length > 0);
    assert.equal(items[0].actorUid, server.ownerUid);
    assert.equal(items[0].resourceUid, provider);
    assert.equal(items[0].after.algorithm, "ECDH-ES+A256KW");
    assert.ok(!JSON.stringify(items).includes(secret));
  });

  function issuerOf(file: string): string {
    return (JSON.parse(providerLine(readFileSync(file, "utf8"))) as { identityProvider: { oidc: { issuer: string } } })
      .identityProvider.oidc.issuer;
  }
});

function providerLine(text: string): string {
  return text.split("\n").find((line) => line.startsWith('{"identityProvider"'))!;
}

/** Returns the text of an exported file, with another encrypted secret. */
function withSecret(file: string, jwe: string): string {
  const text = readFileSync(file, "utf8");
  const line = providerLine(text);
  return text.replace(line, JSON.stringify({ ...JSON.parse(line), encryptedClientSecret: jwe }));
}

function encryptFor(key: KeyObject, content: JsonObject, typ = "gatehouse-client-secret+jwe"): Promise<string> {
  const header = { alg: "ECDH-ES+A256KW", enc: "A256GCM", typ };
  return new CompactEncrypt(Buffer.from(JSON.stringify(content))).setProtectedHeader(header).encrypt(key);
}
