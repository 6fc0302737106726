// `npm run test:image`: builds the image, and runs it with a read-only root. Not a part of `npm test`: it needs root, buildah and
// mmdebstrap. No registry is asked: the images that deploy/Containerfile starts from are made of Debian packages and the Node of npm.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { nodeOf, pack } from "../package/installation.ts";

const missing = ["buildah", "mmdebstrap", "unshare"].filter((name) => spawnSync("which", [name]).status !== 0);
if (process.getuid?.() !== 0) missing.push("root");
const skip = missing.length > 0 && `it needs ${missing.join(", ")}`;
if (skip) console.error(`the image is not built: ${skip}`);

const image = "localhost/gatehouse-test:latest";
const user = 65532;
const maxMegabytes = 200;
const certificates = "/etc/ssl/certs/ca-certificates.crt";
const libraries = ["base-files", "netbase", "libc6", "libstdc++6", "libgcc-s1", "gcc-12-base", "ca-certificates"];

describe("the image", { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-image-"));
  const buildah = (...args: string[]) => execFileSync("buildah", args, { encoding: "utf8", stdio: "pipe" }).trim();
  let container = "";

  before(() => {
    const context = path.join(folder, "context");
    mkdirSync(path.join(context, "dist"), { recursive: true });
    pack(path.join(context, "dist"));
    rmSync(path.join(context, "dist/package"), { recursive: true });
    const node = makeImage("node", [...libraries, "dash", "coreutils"], (root) => {
      cpSync(realpathSync(path.join(nodeOf(24), "node")), path.join(root, "usr/bin/node"));
      cpSync(
        path.join(execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim(), "npm"),
        `${root}/opt/npm`,
        {
          recursive: true,
        },
      );
      execFileSync("ln", ["-sf", "/opt/npm/bin/npm-cli.js", path.join(root, "usr/bin/npm")]);
      execFileSync("ln", ["-sf", "dash", path.join(root, "usr/bin/sh")]);
    });
    const base = makeImage("base", libraries, () => {});
    buildah(
      ...["build", "--isolation", "chroot", "--format", "docker", "--file", "deploy/Containerfile", "--tag", image],
      ...["--build-arg", `NODE=${node}`, "--build-arg", `BASE=${base}`, "--build-arg", "VERSION=0.2.0"],
      ...["--build-arg", `NODE_EXTRA_CA_CERTS=${certificates}`, "--volume", `${certificates}:${certificates}:ro`],
      ...["--volume", `${homedir()}/.npm:/root/.npm`, context],
    );
    container = buildah("from", image);
  });

  after(() => {
    if (container) buildah("rm", container);
    spawnSync("buildah", ["rmi", "--force", image, tagOf("node"), tagOf("base")]);
    rmSync(folder, { recursive: true, force: true });
  });

  const tagOf = (name: string) => `localhost/gatehouse-test-${name}:latest`;

  /** Makes an image of Debian packages, without a run of their scripts. */
  function makeImage(name: string, packages: string[], change: (root: string) => void): string {
    const archive = path.resolve(".cache", `image-${name}.tar`);
    mkdirSync(path.dirname(archive), { recursive: true });
    const options = ["--mode=root", "--variant=extract", `--include=${packages.join(",")}`];
    if (!existsSync(archive)) execFileSync("mmdebstrap", [...options, "bookworm", archive], { stdio: "pipe" });
    const made = buildah("from", "scratch");
    const root = buildah("mount", made);
    execFileSync("tar", ["-xf", archive, "-C", root]);
    for (const unused of ["var/lib/apt", "var/cache", "usr/share/man", "usr/share/locale"])
      rmSync(path.join(root, unused), { recursive: true, force: true });
    change(root);
    buildah("commit", "--rm", made, tagOf(name));
    return tagOf(name);
  }

  it("has a user, labels and a health check", () => {
    const { config } = JSON.parse(buildah("inspect", "--type", "image", image)).Docker;
    assert.equal(config.User, `${user}:${user}`);
    assert.equal(config.Labels["org.opencontainers.image.version"], "0.2.0");
    assert.equal(config.Healthcheck.Test[0], "CMD");
    assert.deepEqual(config.Cmd, ["serve"]);
  });

  it("is small, has no shell, and says what is in it", () => {
    const root = buildah("mount", container);
    const [megabytes] = execFileSync("du", ["-sm", root], { encoding: "utf8" }).split("\t");
    assert.ok(Number(megabytes) <= maxMegabytes, `${megabytes} MB`);
    assert.equal(existsSync(path.join(root, "usr/bin/sh")), false);
    const sbom = path.join(root, "opt/gatehouse/node_modules/gatehouse-server/sbom.cdx.json");
    assert.ok(JSON.parse(readFileSync(sbom, "utf8")).components.length > 50);
  });

  it("serves with a read-only root, and ends with 0", async () => {
    const { config } = JSON.parse(buildah("inspect", "--type", "image", image)).Docker;
    const port = await freePort();
    const data = path.join(folder, "data");
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, user, user);
    // What a container runtime does: buildah itself cannot make the root read-only.
    const script = [
      'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && mount --bind "$2" "$1/var/lib/gatehouse"',
      'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev"',
      'root="$1"; shift 2; exec /usr/sbin/chroot --userspec=65532:65532 "$root" "$@"',
    ].join("\n");
    const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`];
    const server = spawn(
      "unshare",
      ["-m", "sh", "-ec", script, "sh", buildah("mount", container), data, ...config.Entrypoint, ...args],
      { env: Object.fromEntries(config.Env.map((each: string) => each.split(/=(.*)/s).slice(0, 2))), stdio: "pipe" },
    );
    let printed = "";
    for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (printed += text));
    const end = new Promise((resolve) => server.once("close", resolve));
    const ready = `http://127.0.0.1:${port}/readyz`;
    let status = 0;
    while (status !== 200 && server.exitCode === null) {
      status = await fetch(ready).then(
        (reply) => reply.status,
        () => 0,
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(status, 200, printed);
    assert.equal((await fetch(`http://127.0.0.1:${port}/console/`)).status, 200);
    server.kill("SIGTERM");
    assert.equal(await end, 0, printed);
  });
});
