// A running server reloads its certificate, its secrets and its log level at SIGHUP, and never ends by it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { freePort } from "../harness/postgres.ts";
import {
  certificate,
  certificateKey,
  otherCertificate,
  otherCertificateKey,
  renewedCertificate,
} from "../transport/certificate.ts";
import { dataDirectory, environmentOf, launcher, type Running, run, start } from "./process.ts";

const keys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString("base64"));

/** Returns a data directory with a configuration file, certificate and key, and the key of secrets. */
function installation() {
  const data = dataDirectory();
  const file = (name: string) => path.join(data.path, name);
  const write = (name: string, content: string, mode = 0o600) => writeFileSync(file(name), content, { mode });
  return {
    path: data.path,
    file,
    write,
    [Symbol.dispose]: () => data[Symbol.dispose](),
    configure(settings: Record<string, string>) {
      write("gatehouse.json", JSON.stringify(settings));
      return ["--config", file("gatehouse.json"), "--data-dir", data.path];
    },
  };
}

async function stop({ child, finished }: Running): Promise<void> {
  child.kill("SIGTERM");
  assert.equal((await finished).code, 0);
}

/** Asks for a reload, and resolves with the nth line that tells how it went. */
async function reload({ child, logged }: Running, nth: number): Promise<string> {
  child.kill("SIGHUP");
  return await logged(/"msg":"reload/, nth);
}

describe("SIGHUP", () => {
  it("has new TLS connections see the new certificate, while those that are open go on", async () => {
    using data = installation();
    data.write("cert.pem", certificate);
    data.write("key.pem", certificateKey);
    const listen = `127.0.0.1:${await freePort()}`;
    const args = data.configure({
      "base-url": "https://localhost",
      "tls-cert": data.file("cert.pem"),
      "tls-key": data.file("key.pem"),
    });
    const running = start(["serve", ...args, "--listen", listen]);
    await running.said(/secrets/);
    const shown = async () => (await handshake(listen)).shown;

    const kept = await handshake(listen);
    assert.equal(kept.shown, serialOf(certificate));
    // A certificate that is renewed with the same key, then one with another key.
    data.write("cert.pem", renewedCertificate);
    assert.match(await reload(running, 1), /"level":"info".*reloaded the certificate/);
    assert.equal(await shown(), serialOf(renewedCertificate));
    data.write("cert.pem", otherCertificate);
    data.write("key.pem", otherCertificateKey);
    await reload(running, 2);
    assert.equal(await shown(), serialOf(otherCertificate));
    assert.match(await statusOf(kept.socket), /^HTTP\/1\.1 200 /);

    const broken: [file: string, content: string | undefined, reason: RegExp][] = [
      ["key.pem", certificateKey, /"reason":"tls-key: [^"]*key\.pem is not the key of [^"]*cert\.pem/],
      ["key.pem", "", /"reason":"tls-key: [^"]*key\.pem holds no key/],
      ["key.pem", undefined, /"reason":"tls-key: [^"]*key\.pem cannot be read: ENOENT/],
      ["cert.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n", /"reason":"tls-cert: [^"]*cert\.pem holds no certificate/],
      ["gatehouse.json", "{", /"reason":"config: [^"]*gatehouse\.json cannot be read as JSON/],
      ["gatehouse.json", '{"base-url":"https://localhost","log-level":"loud"}', /"reason":"log-level: /],
    ];
    const good = { "key.pem": otherCertificateKey, "cert.pem": otherCertificate } as Record<string, string>;
    for (const [i, [file, content, reason]] of broken.entries()) {
      if (content === undefined) rmSync(data.file(file));
      else data.write(file, content);
      const line = await reload(running, 3 + i);
      assert.match(line, /"level":"error"/);
      assert.match(line, reason);
      assert.equal(await shown(), serialOf(otherCertificate));
      if (good[file]) data.write(file, good[file]);
    }
    await stop(running);
  });

  it("takes the log level and new keys of secrets, and says which settings need a restart", async () => {
    using data = installation();
    data.write("secrets-key", keys[0]!);
    const settings = { "base-url": "https://localhost", "log-level": "info" };
    const args = data.configure(settings);
    const running = start(["serve", ...args, "--listen", `127.0.0.1:${await freePort()}`]);
    await running.said(/secrets +encrypted/);

    data.configure({ ...settings, "log-level": "debug", domain: "other.test", "tls-cert": "" });
    await reload(running, 1);
    await running.logged(/"settings":\["domain"\],"msg":"changed settings take effect after a restart only"/);

    // Not all at once: the first key would be missing.
    data.write("secrets-key", keys[1]!);
    assert.match(
      await reload(running, 2),
      /"reason":"secrets-key: .* is encrypted with the key \w+, which secrets-key does not have/,
    );
    data.write("secrets-key", `${keys[1]}\n${keys[0]}`);
    assert.match(await reload(running, 3), /reloaded/);
    await running.logged(/secrets were re-encrypted with the current key/);
    data.write("secrets-key", keys[1]!);
    assert.match(await reload(running, 4), /reloaded/);
    data.write("secrets-key", keys[2]!, 0o644);
    rmSync(data.file("secrets-key"));
    assert.match(await reload(running, 5), /"reason":"secrets-key: /);
    await stop(running);

    data.write("secrets-key", keys[1]!);
    const checked = await run(["db", "check", ...args]);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  });

  it("keeps a secrets key that others can read out", async () => {
    using data = installation();
    data.write("secrets-key", keys[0]!);
    const args = data.configure({ "base-url": "https://localhost" });
    const running = start(["serve", ...args, "--listen", `127.0.0.1:${await freePort()}`]);
    await running.said(/secrets +encrypted/);
    rmSync(data.file("secrets-key"));
    data.write("secrets-key", keys[0]!, 0o644);
    assert.match(await reload(running, 1), /"reason":"secrets-key: [^"]* can be read by others/);
    await stop(running);
  });

  it("does not end a server that starts, one in development mode, or one that gets it by the dozen", async () => {
    using data = installation();
    const running = start(["serve", "--dev", "--data-dir", data.path, "--listen", `127.0.0.1:${await freePort()}`]);
    await running.said(/Gatehouse/);
    for (let i = 0; i < 24; i++) running.child.kill("SIGHUP");
    await running.logged(/"msg":"reloaded /);
    await stop(running);
  });

  it("does not end a server that is reading its settings, once each and from a pipe", {
    skip: process.platform === "win32",
  }, async () => {
    using data = installation();
    const pipe = data.file("pipe.json");
    execFileSync("mkfifo", [pipe]);
    const listen = `127.0.0.1:${await freePort()}`;
    const running = start(["serve", "--config", pipe, "--data-dir", data.path, "--listen", listen]);
    const settings = await openForReader(pipe);
    running.child.kill("SIGHUP");
    writeSync(settings, JSON.stringify({ "base-url": "https://localhost" }));
    closeSync(settings);
    await running.said(/secrets/);
    assert.match(await reload(running, 1), /"reason":"config: [^"]* is a pipe, which can only be read at the start/);
    await stop(running);
  });

  it("reaches the server through the launcher of an older Node, however early, and ends neither", async () => {
    using data = installation();
    const args = data.configure({ "base-url": "https://localhost" });
    // This Node, which says that it is an older one, and gets the signal from the moment that it listens for signals until it ends.
    const older = `
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } });
      let timer;
      process.on("SIGTERM", () => clearInterval(timer));
      process.on("newListener", (name) => {
        if (name === "SIGTERM") timer ??= setInterval(() => process.emit("SIGHUP", "SIGHUP"), 20);
      });`;
    const command = ["--import", `data:text/javascript,${encodeURIComponent(older)}`, launcher, "serve", ...args];
    const listen = `127.0.0.1:${await freePort()}`;
    const child = spawn(process.execPath, [...command, "--listen", listen], { env: environmentOf({}) });
    let output = "";
    const closed = once(child, "close");
    const saw = async (pattern: RegExp) => {
      const ended = closed.then((how) => assert.fail(`the launcher ended with ${how}: ${output}`));
      while (!pattern.test(output)) await Promise.race([once(child.stdout, "data"), once(child.stderr, "data"), ended]);
      ended.catch(() => {});
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    await saw(/secrets/);
    child.kill("SIGHUP");
    await saw(/"msg":"reloaded /);
    assert.doesNotMatch(output, /GATEHOUSE_LAUNCHER/);
    child.kill("SIGTERM");
    assert.deepEqual(await closed, [0, null]);
  });
});

/** Opens a named pipe for writing once its reader has opened it. */
async function openForReader(pipe: string): Promise<number> {
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    }
    await setImmediate();
  }
}

async function handshake(listen: string): Promise<{ socket: TLSSocket; shown: string }> {
  const [host, port] = listen.split(":");
  const socket = connect({ host: host!, port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const shown = socket.getPeerX509Certificate()?.serialNumber ?? "";
  socket.unref();
  return { socket, shown };
}

async function statusOf(socket: TLSSocket): Promise<string> {
  socket.ref();
  socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const [chunk] = await once(socket, "data");
  return String(chunk);
}

function serialOf(pem: string): string {
  return new X509Certificate(pem).serialNumber;
}
