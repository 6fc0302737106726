// `npm run test:image`: builds the image, and runs it with a read-only root. Not a part of `npm test`: it needs root, buildah and
// mmdebstrap. No registry is asked: the images that deploy/Containerfile starts from are made of Debian packages and the Node of npm.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { pack, versionOf } from "../package/installation.ts";
import { buildah, buildOptions, imagesAreMissing, makeBaseImages, removeBaseImages } from "./base-images.ts";

const skip = imagesAreMissing();
if (skip) console.error(`the image is not built: ${skip}`);

const image = "localhost/gatehouse-test:latest";
const user = 65532;
const maxMegabytes = 200;

describe("the image", { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-image-"));
  let container = "";
  let version = "";

  before(() => {
    const context = path.join(folder, "context");
    mkdirSync(path.join(context, "dist"), { recursive: true });
    version = versionOf(pack(path.join(context, "dist")));
    rmSync(path.join(context, "dist/package"), { recursive: true, force: true });
    buildah(
      ...["build", "--isolation", "chroot", "--format", "docker", "--file", "deploy/Containerfile", "--tag", image],
      ...["--build-arg", `VERSION=${version}`, ...buildOptions(makeBaseImages()), context],
    );
    container = buildah("from", image);
  });

  after(() => {
    if (container) buildah("rm", container);
    spawnSync("buildah", ["rmi", "--force", image]);
    removeBaseImages();
    rmSync(folder, { recursive: true, force: true });
  });

  it("has a user, labels and a health check", () => {
    const { config } = JSON.parse(buildah("inspect", "--type", "image", image)).Docker;
    assert.equal(config.User, `${user}:${user}`);
    assert.equal(config.Labels["org.opencontainers.image.version"], version);
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
