import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, describe, it } from "node:test";
import { gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Compression, compressed, decompressed } from "../../src/sboms/compression.ts";
import { newSbomReader } from "../../src/sboms/reader.ts";
import { isQuick } from "../harness/quick.ts";
import { bundle, bytesOf, cycloneDx, dsse, imageDigest, spdx, statement } from "./documents.ts";

describe("the reader of SBOMs", () => {
  const reader = newSbomReader();
  after(() => reader[Symbol.asyncDispose]());

  const read = (document: unknown, compression: Compression = "") =>
    reader.read(imageDigest, decompressed(document instanceof Uint8Array ? document : bytesOf(document), compression));

  async function contentOf(document: unknown, compression?: Compression) {
    const found = await read(document, compression);
    assert.ok("sbom" in found && found.sbom, JSON.stringify(found));
    return found.sbom;
  }

  async function problemOf(document: unknown, compression?: Compression) {
    const found = await read(document, compression);
    return "problem" in found ? found.problem : `none: ${JSON.stringify(found)}`;
  }

  const curl = "pkg:apk/wolfi/curl@8.5.0-r0?distro=wolfi-2026";

  for (const version of ["1.4", "1.5", "1.6", "1.7"])
    it(`reads CycloneDX ${version}`, async () => {
      const sbom = await contentOf(cycloneDx([curl], { specVersion: version }));
      assert.deepEqual(sbom, {
        format: `CycloneDX ${version}`,
        tool: "syft 1.18.0",
        isSigned: false,
        purls: [curl],
        unchecked: [],
      });
    });

  for (const version of ["2.2", "2.3"])
    it(`reads SPDX ${version}`, async () => {
      const sbom = await contentOf(spdx([curl], { spdxVersion: `SPDX-${version}` }));
      assert.deepEqual(sbom, {
        format: `SPDX ${version}`,
        tool: "syft-1.18.0",
        isSigned: false,
        purls: [curl],
        unchecked: [],
      });
    });

  const npm = "pkg:npm/lodash@4.17.20";
  const envelopes: readonly (readonly [name: string, document: object, isSigned: boolean])[] = [
    ["an in-toto statement", statement(spdx([npm])), false],
    ["a DSSE envelope", dsse(statement(cycloneDx([npm]), "https://cyclonedx.org/bom")), true],
    ["a Sigstore bundle", bundle(statement(spdx([npm]), "https://spdx.dev/Document/v2.3")), true],
  ];
  for (const [name, document, isSigned] of envelopes)
    it(`reads ${name}`, async () => {
      const sbom = await contentOf(document);
      assert.deepEqual([sbom.purls, sbom.isSigned], [[npm], isSigned]);
    });

  it("reads nested components, and neither files nor the operating system", async () => {
    const inner = { type: "library", name: "inner", purl: "pkg:npm/inner@1.0.0" };
    const components = [
      { type: "application", name: "outer", purl: "pkg:npm/outer@1.0.0", components: [inner] },
      { type: "file", name: "/etc/passwd" },
      { type: "operating-system", name: "debian", version: "12" },
    ];
    const sbom = await contentOf(cycloneDx([], { components }));
    assert.deepEqual(sbom.purls, ["pkg:npm/inner@1.0.0", "pkg:npm/outer@1.0.0"]);
    assert.deepEqual(sbom.unchecked, []);
  });

  it("reads the component that the document is about, such as a Go program, and those inside of it", async () => {
    const inner = { type: "library", name: "inner", purl: "pkg:golang/example.org/program/inner@v1.2.0" };
    const unnamed = { type: "library", name: "unnamed" };
    const component = {
      type: "application",
      name: "program",
      purl: "pkg:golang/example.org/program@v1.2.0",
      components: [inner, unnamed],
    };
    const ofProgram = await contentOf(cycloneDx([npm], { metadata: { component } }));
    assert.deepEqual(ofProgram.purls, [inner.purl, component.purl, npm]);
    assert.deepEqual(ofProgram.unchecked, [{ reason: 1, count: 1, example: "unnamed" }]);
    for (const purl of [undefined, "pkg:oci/shop@sha256%3A00"]) {
      const ofImage = cycloneDx([npm], { metadata: { component: { type: "container", name: "shop", purl } } });
      const { purls, unchecked } = await contentOf(ofImage);
      assert.deepEqual([purls, unchecked], [[npm], []]);
    }
  });

  it("reads every package URL, also those of files and archives", async () => {
    const components = ["file", "data", "machine-learning-model"].map((type) => ({
      type,
      name: type,
      purl: `pkg:generic/${type}@1`,
    }));
    const expected = components.map(({ purl }) => purl).sort();
    assert.deepEqual((await contentOf(cycloneDx([], { components }))).purls, expected);
    const { packages } = spdx(["pkg:generic/tool@1", undefined]) as { packages: object[] };
    const archives = packages.map((each) => ({ ...each, primaryPackagePurpose: "ARCHIVE" }));
    const { purls, unchecked } = await contentOf(spdx([], { packages: archives }));
    assert.deepEqual([purls, unchecked], [["pkg:generic/tool@1"], []]);
  });

  it("reads documents with a byte order mark", async () => {
    assert.deepEqual((await contentOf(bytesOf(`\uFEFF${JSON.stringify(cycloneDx([npm]))}`))).purls, [npm]);
  });

  it("adds the operating system of the document to packages of distributions without one", async () => {
    const system = { type: "operating-system", name: "debian", version: "12" };
    const purls = ["pkg:deb/debian/zlib1g@1.2.13", "pkg:deb/debian/curl@8?distro=debian-11", "pkg:npm/a@1.0.0"];
    const components = [system, ...purls.map((purl) => ({ type: "library", name: "x", purl }))];
    assert.deepEqual((await contentOf(cycloneDx([], { components }))).purls, [
      "pkg:deb/debian/curl@8?distro=debian-11",
      "pkg:deb/debian/zlib1g@1.2.13?distro=debian-12",
      "pkg:npm/a@1.0.0",
    ]);
    const packages = [{ name: "alpine", versionInfo: "3.22", primaryPackagePurpose: "OPERATING-SYSTEM" }];
    const ofSpdx = spdx(["pkg:apk/alpine/busybox@1.37.0-r0"]) as { packages: object[] };
    assert.deepEqual((await contentOf({ ...ofSpdx, packages: [...packages, ...ofSpdx.packages] })).purls, [
      "pkg:apk/alpine/busybox@1.37.0-r0?distro=alpine-3.22",
    ]);
  });

  it("reads packages of Alpine without a namespace, as older versions of syft write them", async () => {
    const purls = [
      "pkg:alpine/zlib@1.2.11-r1?upstream=zlib&distro=alpine-3.8.1",
      "pkg:alpine/musl",
      "pkg:alpine/a/b@1",
    ];
    assert.deepEqual((await contentOf(spdx(purls))).purls, [
      "pkg:alpine/a/b@1",
      "pkg:apk/alpine/musl",
      "pkg:apk/alpine/zlib@1.2.11-r1?distro=alpine-3.8.1&upstream=zlib",
    ]);
  });

  it("adds no operating system that is named by a title", async () => {
    const component = { type: "operating-system", name: "Red Hat Enterprise Linux 8", version: "RHEL-8.10.0.Z" };
    const components = [{ type: "library", name: "curl", purl: "pkg:rpm/redhat/curl@7.61.1-34.el8_10.2" }];
    const { purls } = await contentOf(cycloneDx([], { metadata: { component }, components }));
    assert.deepEqual(purls, ["pkg:rpm/redhat/curl@7.61.1-34.el8_10.2"]);
  });

  it("counts what it cannot check, with the reason and an example", async () => {
    const long = `pkg:npm/${"x".repeat(800)}@1`;
    const sbom = await contentOf(cycloneDx([undefined, "pkg:", undefined, long, npm]));
    assert.deepEqual(sbom.unchecked, [
      { reason: 1, count: 2, example: "part-0" },
      { reason: 2, count: 1, example: "part-1" },
      { reason: 3, count: 1, example: "part-3" },
    ]);
    assert.deepEqual(sbom.purls, [npm]);
  });

  it("reads compressed documents", async () => {
    assert.deepEqual((await contentOf(gzipSync(bytesOf(cycloneDx([npm]))), "gzip")).purls, [npm]);
    assert.deepEqual((await contentOf(zstdCompressSync(bytesOf(cycloneDx([npm]))), "zstd")).purls, [npm]);
  });

  it("a document that is stored has the same bytes after compression, and its frame has their number", async () => {
    const document = bytesOf(cycloneDx(Array.from({ length: 10_000 }, (_, i) => `pkg:npm/a@${i}`)));
    const stored = await compressed(decompressed(gzipSync(document), "gzip"), document.length);
    assert.deepEqual(zstdDecompressSync(stored), document);
    // RFC 8878 §3.1.1.1: without its size, some decoders would not take the frame.
    assert.equal(stored[4]! >> 6, 2);
    assert.equal(stored.readUInt32LE(stored[4]! & 0x20 ? 5 : 6), document.length);
  });

  it("returns no SBOM for a statement about something else", async () => {
    const found = await read(statement({ builder: {} }, "https://slsa.dev/provenance/v1"));
    assert.equal("sbom" in found && found.sbom, undefined);
  });

  const deep = `{"bomFormat":"CycloneDX","specVersion":"1.6","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const twice = '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[],"components":[]}';
  const other = statement(spdx([npm]), "https://spdx.dev/Document", `sha256:${"b".repeat(64)}`);
  const many = `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[${'{"type":"library"},'.repeat(1_000_000)}{}]}`;
  const rejected: readonly (readonly [name: string, document: unknown, problem: RegExp])[] = [
    ["other text", "SPDXVersion: SPDX-2.3", /^is not JSON$/],
    ["other JSON", { a: 1 }, /^is neither CycloneDX nor SPDX$/],
    ["a list", [], /^must be a JSON object$/],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), /^is not UTF-8$/],
    ["CycloneDX 1.3", cycloneDx([], { specVersion: "1.3" }), /^is CycloneDX 1.3, but only 1.4 to 1.7 can be read$/],
    ["SPDX 3", spdx([], { spdxVersion: "SPDX-3.0" }), /^is SPDX-3.0, but only SPDX 2.2 and 2.3 can be read$/],
    [
      "SPDX 3 in its own form",
      { "@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [] },
      /^is SPDX-3, but only SPDX 2.2 and 2.3 can be read$/,
    ],
    ["a statement about another image", dsse(other), /^is a statement about something else than the image$/],
    ["an envelope without a statement", { payloadType: "text/plain", payload: "" }, /^is an envelope without/],
    ["a duplicate member", twice, /^has a member twice: "components"/],
    [
      "a duplicate member in an envelope",
      { payloadType: "application/vnd.in-toto+json", payload: Buffer.from(twice).toString("base64") },
      /^has a member twice/,
    ],
    ["depth 200,000", deep, /^is nested more than 100 deep$/],
    ["a million packages", many, /^has a list of more than 100000 items$/],
    ["components that are not objects", cycloneDx([], { components: [1] }), /^has a component that is not an object$/],
  ];
  for (const [name, document, problem] of rejected)
    it(`rejects ${name}`, async () => {
      assert.match(await problemOf(document), problem);
    });

  it("rejects a document above 32 MiB, also if it is small before decompression", async () => {
    const bomb = Buffer.alloc(64 * 1024 * 1024, " ");
    for (const [compression, bytes] of [
      ["", bomb],
      ["gzip", gzipSync(bomb)],
      ["zstd", zstdCompressSync(bomb)],
    ] as const)
      assert.equal(await problemOf(bytes, compression), "is larger than 32 MiB");
  });

  it("reads a document of exactly 32 MiB, compressed or not", async () => {
    const largest = Buffer.alloc(32 * 1024 * 1024, " ");
    largest.set(bytesOf(cycloneDx([npm])));
    const compressed = gzipSync(largest);
    assert.deepEqual((await contentOf(compressed, "gzip")).purls, [npm]);
    assert.deepEqual((await contentOf(largest)).purls, [npm]);
  });

  it("reads a document as it comes, with its digest and its size", async () => {
    const bytes = bytesOf(
      cycloneDx([npm, "pkg:npm/%E4%B8%96%E7%95%8C@1"], { metadata: { tools: [{ name: "世界" }] } }),
    );
    async function* parts() {
      for (const byte of bytes) yield Buffer.of(byte);
    }
    const found = await reader.read(imageDigest, parts());
    assert.ok("sbom" in found && found.sbom, JSON.stringify(found));
    const expected = [`sha256:${hash("sha256", bytes)}`, bytes.length, "世界"];
    assert.deepEqual([found.digest, found.size, found.sbom.tool], expected);
  });

  it("the reader asks for no more of an SBOM that is nested too deep", async () => {
    let asked = 0;
    function* parts() {
      for (const part of ["[".repeat(50), "[".repeat(50), "[", "[", "["]) {
        asked += 1;
        yield Buffer.from(part);
      }
    }
    const problem = { problem: "is nested more than 100 deep" };
    assert.deepEqual([await reader.read(imageDigest, parts()), asked], [problem, 3]);
  });

  it("rejects with the error of a document that does not come to its end, and reads the next one", async () => {
    async function* parts() {
      yield Buffer.from('{"bomFormat":');
      throw new Error("the connection is closed");
    }
    await assert.rejects(reader.read(imageDigest, parts()), { message: "the connection is closed" });
    assert.deepEqual((await contentOf(cycloneDx([npm]))).purls, [npm]);
  });

  it("rejects a document that ends within a character", async () => {
    const half = Buffer.from('{"bomFormat":"é').subarray(0, -1);
    assert.equal(await problemOf(half), "is not UTF-8");
  });

  it("rejects what is not compressed as it says", async () => {
    for (const [compression, compress] of [
      ["gzip", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const)
      for (const bytes of [cycloneDx([]), compress(bytesOf(cycloneDx([npm]))).subarray(0, -10), Buffer.alloc(0)])
        assert.equal(await problemOf(bytes, compression), `is not compressed with ${compression}`);
  });

  it("reads a document whose values would not fit into memory, without those that it does not need", {
    skip: isQuick,
  }, async () => {
    // JSON.parse would end the process here.
    const values = Buffer.alloc(30_000_000, "{},").toString();
    const document = `{"bomFormat":"CycloneDX","specVersion":"1.6","x":[${values}{}],"components":[{"purl":"${npm}"}]}`;
    assert.deepEqual((await contentOf(bytesOf(document))).purls, [npm]);
    const components = `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[${values}{}]}`;
    assert.equal(await problemOf(bytesOf(components)), "has a list of more than 100000 items");
    assert.deepEqual((await contentOf(cycloneDx([npm]))).purls, [npm]);
  });
});
