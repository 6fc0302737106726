// `npm run suites -- database`: TLS to PostgreSQL, by the parameters of the URL.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { StorageUnavailable } from "../../../src/storage/engine/errors.ts";
import { newHosts } from "../../../src/storage/engine/postgres/hosts.ts";
import { openPool } from "../../../src/storage/engine/postgres/pool.ts";
import { type DebianServer, giveToPostgres, startDebianPostgres } from "../../harness/debian-postgres.ts";
import { skipWithout } from "./programs.ts";

skipWithout("postgres", "openssl");

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-tls-"));
const inFolder = (name: string) => path.join(folder, name);

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
}

/** Creates a key and a certificate of the test's authority. */
function issue(name: string, subject: string, extension: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}.key`];
  openssl("req", ...key, "-subj", `/CN=${subject}`, "-addext", extension, "-out", `${name}.csr`);
  const authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-copy_extensions", "copy"];
  openssl("x509", "-req", "-in", `${name}.csr`, ...authority, "-out", `${name}.pem`);
}

/** Only the database `postgres` accepts connections without TLS, and `certified` asks for a certificate of the client. */
const accessRules = [
  "host postgres postgres 127.0.0.1/32 trust",
  "hostssl certified postgres 127.0.0.1/32 cert",
  "hostssl all postgres 127.0.0.1/32 trust",
].join("\n");

describe("TLS to PostgreSQL", () => {
  let server: DebianServer;
  before(async () => {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key"];
    openssl("req", "-x509", ...key, "-subj", "/CN=Test authority", "-days", "2", "-out", "ca.pem");
    issue("server", "localhost", "subjectAltName=DNS:localhost");
    issue("client", "postgres", "extendedKeyUsage=clientAuth");
    const settings = { ssl: "on", ssl_cert_file: "server.pem", ssl_key_file: "server.key", ssl_ca_file: "ca.pem" };
    server = await startDebianPostgres({
      settings,
      prepare(data) {
        for (const name of ["server.pem", "server.key", "ca.pem"]) {
          copyFileSync(inFolder(name), path.join(data, name));
          giveToPostgres(path.join(data, name));
        }
        writeFileSync(path.join(data, "pg_hba.conf"), accessRules);
      },
    });
    for (const name of ["plain", "certified"]) await server.query(`CREATE DATABASE ${name}`);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const urlOf = (host: string, database: string, parameters: string) =>
    `postgres://postgres@${host}:${server.port}/${database}${parameters}`;

  /** Returns whether connections are encrypted, and the subject of the client's certificate. */
  async function connect(url: string): Promise<unknown> {
    const { pool, close } = openPool(newHosts(url, defaultDatabaseLimits), defaultDatabaseLimits);
    try {
      const { rows } = await pool.query("SELECT ssl, client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
      return [rows[0].ssl, rows[0].client_dn];
    } finally {
      await close();
    }
  }

  const ca = `sslrootcert=${inFolder("ca.pem")}`;
  const certificate = `sslcert=${inFolder("client.pem")}&sslkey=${inFolder("client.key")}`;

  const accepted: [parameters: string, host: string, database: string, result: unknown][] = [
    [`?sslmode=verify-full&${ca}`, "localhost", "plain", [true, null]],
    [`?sslmode=require&${ca}`, "localhost", "plain", [true, null]],
    [`?sslmode=verify-ca&${ca}`, "localhost", "plain", [true, null]],
    ["?sslmode=no-verify", "127.0.0.1", "plain", [true, null]],
    [`?sslmode=verify-full&${ca}&${certificate}`, "localhost", "certified", [true, "/CN=postgres"]],
    ["?sslmode=disable", "127.0.0.1", "postgres", [false, null]],
    ["", "127.0.0.1", "postgres", [false, null]],
  ];
  for (const [parameters, host, database, result] of accepted)
    it(`connects to ${database} on ${host} with ${shown(parameters)}`, async () => {
      const warnings: string[] = [];
      const note = ({ message }: Error) => warnings.push(message);
      process.on("warning", note);
      assert.deepEqual(await connect(urlOf(host, database, parameters)), result);
      process.off("warning", note);
      assert.deepEqual(warnings, []);
    });

  const rejected: [parameters: string, host: string, database: string, reason: RegExp][] = [
    ["", "localhost", "plain", /no pg_hba.conf entry .* no encryption/],
    ["?sslmode=disable", "localhost", "plain", /no pg_hba.conf entry .* no encryption/],
    ["?sslmode=verify-full", "localhost", "plain", /self-signed certificate in certificate chain/],
    ["?sslmode=require", "localhost", "plain", /self-signed certificate in certificate chain/],
    [`?sslmode=verify-full&${ca}`, "127.0.0.1", "plain", /does not match certificate's altnames/],
    [`?sslmode=require&${ca}`, "127.0.0.1", "plain", /does not match certificate's altnames/],
    [`?sslmode=verify-full&${ca}`, "localhost", "certified", /requires a valid client certificate/],
    ["?sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "localhost", "plain", /ENOENT.*\/nowhere\/ca\.pem/],
  ];
  for (const [parameters, host, database, reason] of rejected)
    it(`does not connect to ${database} on ${host} with ${shown(parameters)}`, async () => {
      await assert.rejects(openDatabase(urlOf(host, database, parameters), defaultDatabaseLimits), (error) => {
        assert.ok(error instanceof StorageUnavailable, String(error));
        assert.match((error.cause as Error).message, reason);
        return true;
      });
    });
});

function shown(parameters: string): string {
  return parameters.replaceAll(`${folder}/`, "") || "no parameters";
}
