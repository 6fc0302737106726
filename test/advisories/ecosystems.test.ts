// Products by ecosystem and name: their package URLs, and the way back.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { ecosystemProblem, ecosystems, packageOf, productOf, splitEcosystem } from "../../src/advisories/ecosystems.ts";

/** The names of packages as their ecosystems have them. What has no package URL here is known by ecosystem and name. */
const packages: readonly (readonly [ecosystem: string, name: string, purl: string])[] = [
  ["npm", "@scope/a", "pkg:npm/%40scope/a"],
  ["Go", "github.com/A/b/v2", "pkg:golang/github.com/A/b/v2"],
  ["Go", "stdlib", "pkg:golang/stdlib"],
  ["Maven", "org.example:m", "pkg:maven/org.example/m"],
  ["Maven:https://maven.example", "a:b", "pkg:maven/a/b?repository_url=https://maven.example"],
  ["crates.io", "c", "pkg:cargo/c"],
  ["Packagist", "vendor/p", "pkg:composer/vendor/p"],
  ["GitHub Actions", "owner/repo", "pkg:githubactions/owner/repo"],
  ["VSCode", "publisher.name.more", "pkg:vscode-extension/publisher/name.more"],
  ["Debian", "libc++", "pkg:deb/debian/libc%2B%2B"],
  ["Red Hat", "r", "pkg:rpm/redhat/r"],
  ["Wolfi", "w", "pkg:apk/wolfi/w"],
  ["Linux", "Kernel", ""],
  ["constructor", "x", ""],
];

describe("products of ecosystems", () => {
  for (const [ecosystem, name, purl] of packages) {
    it(`${ecosystem} ${name}`, () => {
      const product = productOf(ecosystem, name);
      assert.deepEqual([product.ecosystem, product.name], [ecosystem, name]);
      assert.equal(decodeURIComponent(product.purl), decodeURIComponent(purl));
      if (purl === "" || ecosystem.includes(":")) return;
      assert.deepEqual(packageOf(create(ProductSchema, { purl }), ""), { ecosystem, name });
    });
  }

  it("a name that its ecosystem does not allow has no package URL", () => {
    for (const [ecosystem, name] of [
      ["Maven", "a"],
      ["Maven", "a:b:c"],
      ["npm", "/a"],
      ["VSCode", "a"],
      ["Go", ""],
    ] as const)
      assert.equal(productOf(ecosystem, name).purl, "", name);
  });

  it("packages without a distribution are of the given ecosystem, if it has packages of their type", () => {
    const of = (purl: string, ecosystem: string) => packageOf(create(ProductSchema, { purl }), ecosystem)?.ecosystem;
    const cases: readonly (readonly [purl: string, given: string, ecosystem: string | undefined])[] = [
      ["pkg:apk/x?arch=x86_64", "Alpine:v3.22", "Alpine:v3.22"],
      ["pkg:apk/chainguard/x", "Wolfi", "Chainguard"],
      ["pkg:apk/acme/x", "Wolfi", undefined],
      ["pkg:deb/x", "Wolfi", undefined],
      ["pkg:rpm/rocky/x", "Wolfi", "Rocky Linux"],
      ["pkg:apk/cleanstart/x", "CleanStart", "CleanStart"],
      ["pkg:oci/x", "Wolfi", undefined],
      ["pkg:generic/x", "Wolfi", undefined],
      ["", "Wolfi", undefined],
    ];
    for (const [purl, given, ecosystem] of cases) assert.equal(of(purl, given), ecosystem, purl);
  });

  it("releases are split from ecosystems, addresses are not", () => {
    const split = (text: string) => Object.values(splitEcosystem(text));
    assert.deepEqual(split("Debian:12"), ["Debian", "12"]);
    assert.deepEqual(split("Ubuntu:Pro:18.04:LTS"), ["Ubuntu", "Pro:18.04:LTS"]);
    assert.deepEqual(split("Maven:https://maven.example"), ["Maven:https://maven.example", ""]);
    assert.deepEqual(split("npm"), ["npm", ""]);
  });

  it("an ecosystem that OSV does not have is named", () => {
    for (const name of ecosystems) assert.equal(ecosystemProblem(`${name}:1`), "");
    assert.equal(ecosystemProblem("wolfi"), 'OSV has no ecosystem "wolfi", but "Wolfi"');
    assert.notEqual(ecosystemProblem("Alpine:"), "");
  });
});
