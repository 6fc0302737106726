// `npm run suites -- client`: the client package as `npm pack` makes it. The programs of its README are checked by the compiler, and run on
// Node 22 and 24 and in Chromium against a real server. Not a part of `npm test`: it takes other versions of Node from npm.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { newPage, openChromium } from "../../browser/chromium.ts";
import { launcher } from "../../cli/process.ts";
import { type IdentityProvider, startIdentityProvider } from "../../harness/identity-provider.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addWorkload } from "../../security/tree.ts";
import { nodeOf } from "../installation.ts";

const run = promisify(execFile);
const maxPackages = 10;
const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-client-"));

/** The programs of the README, by the names that their first lines give them. */
const programs = new Map(
  [...readFileSync("packages/client/README.md", "utf8").matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, name, code]) => [name!, code!],
  ),
);

let server: TestServer;
let provider: IdentityProvider;
let identity: string;
let page: PageServer;

/** Bundles a program for a page. */
async function bundle(name: string): Promise<string> {
  const source = path.join(folder, "entry.ts");
  writeFileSync(source, `import * as program from "./${name}";\nObject.assign(globalThis, program);\n`);
  await using built = await rolldown({ input: source, platform: "browser", logLevel: "warn" });
  const { output } = await built.generate({ format: "esm" });
  rmSync(source);
  return output[0].code;
}

interface PageServer extends Disposable {
  readonly origin: string;
}

async function servePage(script: string): Promise<PageServer> {
  const listening = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void listening.close(),
  };
}

describe("the client package", () => {
  before(async () => {
    const npm = (...args: string[]) => execFileSync("npm", args, { cwd: folder, stdio: "pipe", encoding: "utf8" });
    execFileSync("npm", ["pack", "-w", "gatehouse-client", "--pack-destination", folder], { stdio: "pipe" });
    const [tarball] = globSync("*.tgz", { cwd: folder });
    writeFileSync(path.join(folder, "package.json"), '{"type": "module"}');
    npm("install", "--no-audit", "--no-fund", "--prefer-offline", `./${tarball}`);
    for (const [name, code] of programs) writeFileSync(path.join(folder, name), code);
    page = await servePage(await bundle("page.ts"));
    server = await startTestServer({ settings: { corsOrigins: page.origin } });
    provider = await startIdentityProvider(["deployer"]);
    identity = await addWorkload(server, provider.issuer, "deployer");
  });
  after(async () => {
    page?.[Symbol.dispose]();
    await provider?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it("installs few packages, and no source that was left over", () => {
    const packages = globSync(["*/package.json", "@*/*/package.json"], { cwd: path.join(folder, "node_modules") });
    assert.ok(packages.length <= maxPackages, packages.join(" "));
    const own = globSync("**/*", { cwd: path.join(folder, "node_modules/gatehouse-client"), withFileTypes: true });
    const odd = own.filter((entry) => entry.isFile() && !/\.(js|d\.ts|json|md)$|^LICENSE$/.test(entry.name));
    assert.deepEqual(odd, []);
  });

  for (const resolution of ["nodenext", "bundler"])
    it(`has types for moduleResolution ${resolution}, without skipLibCheck`, () => {
      mkdirSync(path.join(folder, "types"), { recursive: true });
      const paths = ["node"].map((name) => path.resolve("node_modules/@types", name));
      const project = path.join(folder, `tsconfig.${resolution}.json`);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        target: "es2022",
        lib: ["es2023", "esnext.disposable", "dom", "dom.iterable"],
        types: paths,
        module: resolution === "bundler" ? "esnext" : resolution,
        moduleResolution: resolution,
      };
      writeFileSync(project, JSON.stringify({ compilerOptions, files: [...programs.keys()] }));
      execFileSync(path.resolve("node_modules/.bin/tsc"), ["-p", project], { stdio: "pipe", encoding: "utf8" });
      const wrong =
        'import { GroupsService } from "gatehouse-client/chainguard/platform/iam/v2beta1";\nGroupsService.x;\n';
      writeFileSync(path.join(folder, "wrong.ts"), wrong);
      writeFileSync(project, JSON.stringify({ compilerOptions, files: ["wrong.ts"] }));
      assert.throws(() => execFileSync(path.resolve("node_modules/.bin/tsc"), ["-p", project], { stdio: "pipe" }));
    });

  for (const version of [22, 24])
    describe(`on Node ${version}`, () => {
      async function output(program: string, environment: Record<string, string>): Promise<string> {
        const env = { GATEHOUSE_URL: server.url, NODE_NO_WARNINGS: "1", PATH: folder, ...environment };
        return (await run(path.join(nodeOf(version), "node"), [program], { cwd: folder, env })).stdout;
      }

      it("exchanges the token of a file, lists groups and ends", async () => {
        writeFileSync(path.join(folder, "token"), await provider.issueToken("deployer", server.url));
        const printed = await output("list-groups.ts", { TOKEN_FILE: "token", IDENTITY: identity });
        assert.equal(printed, `${server.groupUid} example.org\n`);
      });

      // Node 22 does not know `await using`.
      it("starts an emulator for a test", { skip: version < 24 }, async () => {
        const script = `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`;
        writeFileSync(path.join(folder, "gatehouse"), script, { mode: 0o755 });
        assert.equal(await output("test-program.ts", {}), "team\n1\n");
      });

      it("reads the details of an error", async () => {
        const environment = { GATEHOUSE_TOKEN: server.ownerToken, PARENT: server.groupUid };
        assert.match(await output("create-group.ts", environment), /^name: /);
      });
    });

  it("lists groups on a page of another origin in Chromium", async () => {
    const browser = await openChromium();
    try {
      const { page: tab, complaints } = await newPage(browser);
      await tab.goto(page.origin);
      const call = `groupNames(${JSON.stringify(server.url)}, ${JSON.stringify(server.ownerToken)})`;
      assert.deepEqual([await tab.evaluate(call), complaints], [["example.org"], []]);
    } finally {
      await browser.close();
    }
  });
});
