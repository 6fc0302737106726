// Secrets in the database are encrypted once there is a key. Only the configured keys decrypt them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import pino from "pino";
import { systemClock } from "../../src/base/clock.ts";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { newChild } from "../../src/model/uid.ts";
import { type Server, startServer } from "../../src/server/server.ts";
import { createOrganization } from "../../src/services/iam/bootstrap.ts";
import { decryptClientSecret, encryptClientSecret } from "../../src/services/iam/identity-providers/client-secret.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { readSetting } from "../../src/storage/engine/settings.ts";
import { identityProviderCollection } from "../../src/storage/iam/collections.ts";
import { newEncryption } from "../../src/storage/installation/encryption.ts";
import { readSecret } from "../../src/storage/installation/secret-settings.ts";
import { listSigningKeys } from "../../src/storage/installation/signing-keys.ts";
import { dataDirectory, run } from "../cli/process.ts";
import { databases } from "../harness/databases.ts";
import { keptLog } from "../harness/kept-log.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { addProvider } from "./provider-tree.ts";

const newKey = () => randomBytes(32).toString("base64");
const encrypted = /^gatehouse-sealed:1:[0-9a-f]{16}:/;

interface Data {
  readonly dataDir: string;
  readonly databaseUrl: string;
}

/** Starts a production server on the data with these keys. */
async function open({ dataDir, databaseUrl }: Data, secretsKey: string, log?: NodeJS.WritableStream): Promise<Server> {
  const listen = `127.0.0.1:${await freePort()}`;
  const settings = { dataDir, databaseUrl, secretsKey, listen, baseUrl: "https://iam.test" };
  const logger = log ? pino({ level: "info" }, log) : pino({ level: "silent" });
  return await startServer(toConfig(readSettings(settings, {})), logger);
}

/** Returns all secrets as they are stored. */
async function stored({ database: { session } }: Server, provider?: string): Promise<string[]> {
  const keys = (await listSigningKeys(session)).map(({ privateJwk }) => privateJwk);
  const row = provider === undefined ? undefined : await findRow(session, identityProviderCollection, provider);
  const settings = [await readSetting(session, "page_token_key"), await readSetting(session, "registry_signing_key")];
  return [...settings.map(String), ...keys, ...(row ? [row.clientSecret!] : [])];
}

/** Adds an organization with a provider that has a client secret. */
async function addSecret(server: Server, secret: string): Promise<string> {
  const context = { actor: "", method: "test", requestId: "", time: Date.now() };
  const owner = { issuer: "https://issuer.example.org", subject: "owner" };
  const { groupUid } = await server.database.write(context, (tx) => createOrganization(tx, "org", owner));
  const uid = newChild(groupUid);
  const clientSecret = encryptClientSecret(server.encryption, uid, secret);
  return await addProvider({ server, clock: systemClock }, groupUid, { uid, clientSecret });
}

after(stopPostgres);

for (const kind of databases) {
  describe(`secrets in ${kind}`, () => {
    const place = async (dataDir: string): Promise<Data> => ({
      dataDir,
      databaseUrl: kind === "postgres" ? await newPostgresDatabase() : "",
    });

    it("reads unencrypted secrets, and encrypts them at the first start with a key", async () => {
      using directory = dataDirectory();
      const data = await place(directory.path);
      const clear = await open(data, "");
      const [pageKey, registryKey, signingKey] = await stored(clear);
      await clear[Symbol.asyncDispose]();
      assert.doesNotMatch(pageKey!, encrypted);
      for (const key of [registryKey, signingKey]) assert.match(key!, /"privateJwk"|"d":/);

      await using first = await open(data, newKey());
      const now = await stored(first);
      // Two settings, and two signing keys.
      assert.equal(now.length, 4);
      for (const text of now) assert.match(text, encrypted);
      assert.equal(await readSecret(first.database.session, first.encryption, "page_token_key"), pageKey);
      assert.equal(await readSecret(first.database.session, first.encryption, "registry_signing_key"), registryKey);
    });

    it("re-encrypts all secrets with a new first key, and no longer needs the old key", async () => {
      using directory = dataDirectory();
      const data = await place(directory.path);
      const [old, fresh] = [newKey(), newKey()];
      const first = await open(data, old);
      const uid = await addSecret(first, "s3cret");
      const before = await stored(first, uid);
      await first[Symbol.asyncDispose]();

      const second = await open(data, `${fresh},${old}`);
      const keyId = newEncryption([Buffer.from(fresh, "base64")]).keyId;
      for (const text of await stored(second, uid)) assert.ok(text.startsWith(`gatehouse-sealed:1:${keyId}:`));
      assert.equal(before.length, 5);
      const row = (await findRow(second.database.session, identityProviderCollection, uid))!;
      assert.equal(decryptClientSecret(second.encryption, row), "s3cret");
      await second[Symbol.asyncDispose]();

      await using third = await open(data, fresh);
      assert.equal(third.encryption.keyId, keyId);
    });

    it("a server with a wrong key, or without its key, does not start, and names the missing key", async () => {
      using directory = dataDirectory();
      const data = await place(directory.path);
      const first = await open(data, newKey());
      await first[Symbol.asyncDispose]();
      for (const key of ["", newKey()]) {
        await assert.rejects(open(data, key), {
          name: "ConfigError",
          message: `secrets-key: settings page_token_key: value is encrypted with the key ${first.encryption.keyId}, which secrets-key does not have.`,
        });
      }
    });

    it("a secret that was moved to another provider cannot be decrypted; the start and db check report it", async () => {
      using directory = dataDirectory();
      const data = await place(directory.path);
      const [key, old] = [newKey(), newKey()];
      const first = await open(data, old);
      const uid = await addSecret(first, "s3cret");
      const { clientSecret } = (await findRow(first.database.session, identityProviderCollection, uid))!;
      const moved = await addProvider({ server: first, clock: systemClock }, uid.split("/")[0]!, { clientSecret });
      await first[Symbol.asyncDispose]();

      const log = keptLog();
      const second = await open(data, `${key},${old}`, log.stream);
      const finding = `identity_providers ${moved}: clientSecret was altered, or encrypted for another column`;
      assert.ok(
        log.lines().some((line) => line.includes(finding)),
        log.text(),
      );
      const row = (await findRow(second.database.session, identityProviderCollection, moved))!;
      assert.throws(() => decryptClientSecret(second.encryption, row), { message: finding });
      await second[Symbol.asyncDispose]();

      const url = data.databaseUrl || path.join(directory.path, "gatehouse.db");
      const args = ["db", "check", "--data-dir", directory.path, "--database-url", url];
      const checked = await run(args, { GATEHOUSE_SECRETS_KEY: `${key},${old}` });
      assert.deepEqual([checked.code, checked.stdout.includes(finding)], [1, true], checked.stdout + checked.stderr);
      const keyless = await run(args);
      assert.equal(keyless.code, 1);
      assert.match(keyless.stdout, /settings page_token_key: value is encrypted with the key [0-9a-f]{16}/);
      assert.match(keyless.stdout, /signing_keys \S+: privateJwk is encrypted with the key/);
    });
  });
}

describe("the key of secrets", () => {
  const serve = ["serve", "--base-url", "https://iam.test", "--listen", "127.0.0.1:1"];

  it("C2: development makes one for its owner alone", async () => {
    using directory = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const config = toConfig(readSettings({ dev: true, dataDir: directory.path, listen }, {}));
    await using server = await startServer(config, pino({ level: "silent" }));
    const file = path.join(directory.path, "secrets-key");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(newEncryption([Buffer.from(readFileSync(file, "utf8"), "base64")]).keyId, server.encryption.keyId);
  });

  it("C2: a file that others can read ends the start", async () => {
    using directory = dataDirectory();
    const file = path.join(directory.path, "secrets-key");
    writeFileSync(file, newKey());
    for (const mode of [0o640, 0o604]) {
      chmodSync(file, mode);
      const { code, stderr } = await run([...serve, "--data-dir", directory.path]);
      assert.deepEqual(
        [code, stderr],
        [2, `gatehouse: secrets-key: ${file} can be read by others; set its mode to 0600.\n`],
      );
    }
  });

  for (const [what, key] of [
    ["too short", randomBytes(31).toString("base64")],
    ["too long", randomBytes(33).toString("base64")],
    ["no base64", `${"!".repeat(43)}=`],
    ["good, with a bad one behind", `${newKey()},${newKey().slice(5)}`],
  ] as const) {
    it(`a key that is ${what} is rejected and not repeated`, async () => {
      using directory = dataDirectory();
      const outcome = await run([...serve, "--data-dir", directory.path], { GATEHOUSE_SECRETS_KEY: key });
      const message = "gatehouse: secrets-key: must be 32 bytes in base64, or several such keys separated by commas.\n";
      assert.deepEqual([outcome.code, outcome.stderr], [2, message]);
    });
  }
});
