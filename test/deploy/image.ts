// `npm run suites -- image`: builds the image, and runs it with a read-only root, by Podman too. Not a part of `npm test`: it needs root,
// buildah and mmdebstrap. No registry is asked: the images that deploy/Containerfile starts from are made of Debian packages and the Node of npm.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { stringify } from "yaml";
import { freePort } from "../harness/postgres.ts";
import { pack, versionOf } from "../packages/installation.ts";
import { buildah, buildOptions, imagesAreMissing, makeBaseImages, removeBaseImages } from "./base-images.ts";
import { newPodman, podmanIsMissing } from "./podman.ts";

const skip = imagesAreMissing();
if (skip) console.error(`the image is not built: ${skip}`);
const noPodman = podmanIsMissing();
if (noPodman) console.error(`the image is not run in a container: ${noPodman}`);

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
      "build",
      "--isolation",
      "chroot",
      "--format",
      "docker",
      "--file",
      "deploy/Containerfile",
      "--tag",
      image,
      "--build-arg",
      `VERSION=${version}`,
      ...buildOptions(makeBaseImages()),
      context,
    );
    container = buildah("from", image);
  });

  after(() => {
    if (container) buildah("rm", container);
    spawnSync("buildah", ["rmi", "--force", image]);
    removeBaseImages();
    rmSync(folder, { recursive: true, force: true });
  });

  it("the image has a user, labels and a health check", () => {
    const { config } = JSON.parse(buildah("inspect", "--type", "image", image)).Docker;
    assert.equal(config.User, `${user}:${user}`);
    assert.equal(config.Labels["org.opencontainers.image.version"], version);
    assert.equal(config.Healthcheck.Test[0], "CMD");
    assert.deepEqual(config.Cmd, ["serve"]);
  });

  it("the image is small, has no shell, and says what is in it", () => {
    const root = buildah("mount", container);
    const [megabytes] = execFileSync("du", ["-sm", root], { encoding: "utf8" }).split("\t");
    assert.ok(Number(megabytes) <= maxMegabytes, `${megabytes} MB`);
    assert.equal(existsSync(path.join(root, "usr/bin/sh")), false);
    const sbom = path.join(root, "opt/gatehouse/node_modules/gatehouse-server/sbom.cdx.json");
    assert.ok(JSON.parse(readFileSync(sbom, "utf8")).components.length > 50);
  });

  it("lets group 0 write its data, since OpenShift runs it as any user of that group", () => {
    const { mode, uid, gid } = statSync(path.join(buildah("mount", container), "var/lib/gatehouse"));
    assert.deepEqual([mode & 0o777, uid, gid], [0o770, user, 0]);
  });

  it("serves with a read-only root, and ends with 0", async () => {
    const { config } = JSON.parse(buildah("inspect", "--type", "image", image)).Docker;
    const port = await freePort();
    const data = path.join(folder, "data");
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, user, user);
    // Starts a container as a runtime does: buildah itself cannot make the root read-only.
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
      await setTimeout(50);
    }
    assert.equal(status, 200, printed);
    assert.equal((await fetch(`http://127.0.0.1:${port}/console/`)).status, 200);
    server.kill("SIGTERM");
    assert.equal(await end, 0, printed);
  });

  it("runs in a container, is healthy there, and has the command line", { skip: noPodman }, async () => {
    using podman = newPodman();
    const name = path.basename(folder);
    const options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges"];
    const settings = ["--env=GATEHOUSE_BASE_URL=http://localhost:8080", `--env=GATEHOUSE_SECRETS_KEY=${secretsKey()}`];
    const data = `--volume=${name}:/var/lib/gatehouse`;
    podman.run("run", "--detach", `--name=${name}`, "--network=none", ...options, ...settings, data, image);
    try {
      // Exits with 1 until the server is ready.
      await eventually(() => podman.run("healthcheck", "run", name));
      assert.equal(podman.run("exec", name, "gatehouse", "--version"), version);
      assert.equal(JSON.parse(podman.run("exec", name, "gatehouse", "version", "-o", "json")).server, version);
      assert.equal(podman.run("exec", name, "node", "-p", "process.getuid()"), String(user));
      assert.throws(() => podman.run("exec", name, "node", "-e", "fs.writeFileSync('/opt/file', '')"), /EROFS/);
      podman.run("stop", name);
      assert.equal(podman.run("inspect", name, "--format={{.State.ExitCode}}"), "0");
    } finally {
      podman.run("rm", "--force", name);
      podman.run("volume", "rm", name);
    }
  });

  it("runs in a container as any user of group 0", { skip: noPodman }, async () => {
    using podman = newPodman();
    const name = `${path.basename(folder)}-any-user`;
    const options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--user=1000950000:0", "--network=none"];
    const settings = ["--env=GATEHOUSE_BASE_URL=http://localhost:8080", `--env=GATEHOUSE_SECRETS_KEY=${secretsKey()}`];
    podman.run(
      "run",
      "--detach",
      `--name=${name}`,
      ...options,
      ...settings,
      `--volume=${name}:/var/lib/gatehouse`,
      image,
    );
    try {
      await eventually(() => podman.run("healthcheck", "run", name));
    } finally {
      podman.run("rm", "--force", name);
      podman.run("volume", "rm", name);
    }
  });

  it("runs from the compose file, which keeps the data", { skip: noPodman }, async () => {
    using podman = newPodman();
    const port = await freePort();
    // No registry is asked for PostgreSQL: the server takes SQLite.
    const changes = { image, ports: [`127.0.0.1:${port}:8080`], environment: { GATEHOUSE_DATABASE_URL: "" } };
    const [override, variables] = ["override.yaml", "variables"].map((name) => path.join(folder, name));
    const yaml = stringify({ services: { gatehouse: changes } }).replace("ports:", "ports: !override");
    writeFileSync(override!, yaml);
    writeFileSync(variables!, `GATEHOUSE_SECRETS_KEY=${secretsKey()}\nPOSTGRES_PASSWORD=x\nGRAFANA_PASSWORD=x\n`);
    const files = ["--file=deploy/compose.yaml", `--file=${override}`, `--env-file=${variables}`];
    const compose = (...args: string[]) => podman.compose("--project-name=gatehouse-test", ...files, ...args);
    const ready = () => eventually(async () => assert.ok((await fetch(`http://127.0.0.1:${port}/readyz`)).ok));
    try {
      compose("up", "--detach", "--no-build", "--no-deps", "gatehouse");
      await ready();
      const owner = ["--organization", "example.org", "--issuer", "https://login.example.com", "--subject", "alice"];
      assert.match(compose("run", "--rm", "--no-deps", "-T", "gatehouse", "bootstrap", ...owner), /^organization +\S/m);
      compose("down");
      compose("up", "--detach", "--no-build", "--no-deps", "gatehouse");
      await ready();
      assert.throws(() => compose("run", "--rm", "--no-deps", "-T", "gatehouse", "bootstrap", ...owner), /already/);
    } finally {
      compose("down", "--volumes");
    }
  });
});

const secretsKey = () => randomBytes(32).toString("base64");

/** Repeats what fails for 30 seconds at most. */
async function eventually(attempt: () => unknown): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await setTimeout(200);
    }
  }
}
