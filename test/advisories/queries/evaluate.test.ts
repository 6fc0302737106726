// Tests of queries: which statements are about the package, and the status that they give the version.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  AdvisoryStatementsSchema,
  ProductSchema,
  type ProductStatement,
  ProductStatementSchema,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { productOf } from "../../../src/advisories/ecosystems.ts";
import { readOsv } from "../../../src/advisories/osv/read.ts";
import { parseProduct } from "../../../src/advisories/product.ts";
import { evaluate } from "../../../src/advisories/queries/evaluate.ts";
import {
  isAbout,
  type PackageName,
  packageKeysOf,
  type QueriedPackage,
  readPackage,
  versionFor,
} from "../../../src/advisories/queries/package.ts";
import { mayBeSameRelease } from "../../../src/advisories/queries/releases.ts";
import { generatedEcosystems, generatedRecords, newDraws, versionOf } from "../osv/generated.ts";
import { isAffected } from "./osv-evaluator.ts";

const named = (parts: Partial<PackageName>): PackageName => ({
  purl: "",
  ecosystem: "",
  name: "",
  version: "",
  ...parts,
});

function asked(parts: Partial<PackageName> | string): QueriedPackage {
  const found = readPackage(named(typeof parts === "string" ? { purl: parts } : parts));
  if ("field" in found) return assert.fail(`${found.field}: ${found.description}`);
  return found;
}

/** Returns a statement on a product: a package URL, or "Debian:12 curl". */
function statement(text: string): ProductStatement {
  const [, ecosystem = "", name = ""] = /^(.*) (.*)$/.exec(text) ?? [];
  if (text.startsWith("pkg:")) return create(ProductStatementSchema, { product: parseProduct(text)!.product });
  const [base = "", ...release] = ecosystem.split(":");
  return create(ProductStatementSchema, { product: productOf(base, name), release: release.join(":") });
}

/** A query, names of packages that match it, and names that do not. */
const matches: readonly (readonly [query: Partial<PackageName> | string, about: string[], others: string[]])[] = [
  ["pkg:npm/%40a/b@1", ["npm @a/b", "pkg:npm/@A/b"], ["npm b", "npm @c/b", "pkg:pypi/b"]],
  ["pkg:pypi/Zope.Interface@1", ["PyPI zope-interface", "PyPI Zope_Interface"], ["PyPI zope"]],
  ["pkg:nuget/newtonsoft.json@1", ["NuGet Newtonsoft.Json"], []],
  [{ ecosystem: "Linux", name: "Kernel" }, ["Linux Kernel"], ["Linux Other"]],
  [{ ecosystem: "pypi", name: "Jinja2" }, ["PyPI jinja2", "pkg:pypi/jinja2"], []],
  [{ ecosystem: "debian:12", name: "curl" }, ["Debian:12 curl"], ["Debian:11 curl"]],
  // Distributions and their releases.
  ["pkg:apk/wolfi/curl@1", ["Wolfi curl", "pkg:apk/curl"], ["Alpine:v3.20 curl", "Chainguard curl"]],
  [
    "pkg:deb/debian/curl@1?distro=debian-12.5",
    ["Debian:12 curl", "Debian curl"],
    ["Debian:11 curl", "Ubuntu:12.04 curl"],
  ],
  ["pkg:deb/debian/curl@1", ["Debian:11 curl", "Debian:12 curl"], []],
  [
    { ecosystem: "Debian:12", name: "curl" },
    ["Debian:12 curl", "pkg:deb/debian/curl?distro=bookworm"],
    ["Debian:13 curl"],
  ],
  ["pkg:rpm/rocky/curl@1?distro=rocky-9.3", ["pkg:rpm/rocky-linux/curl"], ["pkg:rpm/redhat/curl"]],
  // The spellings of scanners.
  ...["opensuse-leap", "opensuseleap", "opensuse.leap"]
    .map(
      (namespace) =>
        [
          `pkg:rpm/${namespace}/curl@1-1`,
          ["openSUSE:Leap 15.6 curl", "pkg:rpm/opensuse/curl"],
          ["SUSE:15 curl"],
        ] as const,
    )
    .map(([query, about, others]) => [query, [...about], [...others]] as [string, string[], string[]]),
  [
    { ecosystem: "opensuse-leap:15.6", name: "curl" },
    ["openSUSE:Leap 15.6 curl", "opensuse-leap:15.6 curl", "pkg:rpm/opensuse-leap/curl"],
    ["openSUSE:Leap 15.5 curl", "opensuse-leap:15.5 curl", "sles:15.6 curl"],
  ],
  ["pkg:rpm/opensuse/curl@1-1", ["opensuse-tumbleweed curl", "opensuse.leap curl"], ["SUSE:15 curl"]],
  ...[
    "pkg:rpm/opensuse-tumbleweed/curl@1-1",
    "pkg:rpm/opensuse.tumbleweed/curl@1-1",
    "pkg:rpm/opensuse-tumbleweed/curl@1-1?distro=opensuse-tumbleweed-20260131",
    "pkg:rpm/opensuse-tumbleweed/curl@1-1?distro=20260131",
    "pkg:rpm/opensuse/curl@1-1?distro=opensuse-tumbleweed",
    "pkg:rpm/curl@1-1?distro=opensuse-tumbleweed-20260131",
    { ecosystem: "opensuse-tumbleweed", name: "curl" },
    { ecosystem: "opensuse-tumbleweed:20260131", name: "curl" },
    { ecosystem: "opensuse.tumbleweed", name: "curl" },
    { ecosystem: "openSUSE:Tumbleweed", name: "curl" },
  ].map(
    (query) =>
      [
        query,
        [
          "openSUSE:Tumbleweed curl",
          "openSUSE curl",
          "opensuse-tumbleweed curl",
          "pkg:rpm/opensuse/curl",
          "pkg:rpm/opensuse-tumbleweed/curl",
          "pkg:rpm/opensuse/curl?distro=opensuse-tumbleweed-20260101",
        ],
        ["openSUSE:Leap 15.6 curl", "opensuse-leap:15.6 curl", "SUSE:15 curl"],
      ] as [typeof query, string[], string[]],
  ),
  [
    { ecosystem: "openSUSE:Leap 15.6", name: "curl" },
    ["openSUSE:Leap 15.6 curl", "openSUSE curl"],
    ["openSUSE:Tumbleweed curl"],
  ],
  ["pkg:rpm/redhat/curl@1-1", ["rhel:9 curl", "red-hat:9 curl"], ["rocky:9 curl"]],
  ["pkg:rpm/sles/curl@1-1", ["pkg:rpm/suse/curl"], ["pkg:rpm/opensuse/curl"]],
  ["pkg:rpm/cbl-mariner/curl@1-1", ["Azure Linux:3 curl"], ["pkg:rpm/suse/curl"]],
  ["pkg:rpm/curl@1-1?distro=opensuse-leap-15.6", ["openSUSE:Leap 15.6 curl", "pkg:rpm/curl"], ["pkg:rpm/suse/curl"]],
  ["pkg:deb/curl@1?distro=jammy", ["Ubuntu:22.04 curl"], ["pkg:rpm/suse/curl"]],
  ["pkg:rpm/curl@1-1", ["openSUSE:Leap 15.6 curl", "Mageia:9 curl", "pkg:rpm/curl"], ["Debian:12 curl"]],
  // Qualifiers that both have must agree.
  [
    "pkg:apk/wolfi/curl@1?arch=x86_64",
    ["pkg:apk/wolfi/curl?arch=x86_64", "pkg:apk/wolfi/curl"],
    ["pkg:apk/wolfi/curl?arch=aarch64"],
  ],
  ["pkg:deb/debian/curl@1?arch=amd64", ["pkg:deb/debian/curl?arch=source", "pkg:deb/debian/curl?arch=all"], []],
  [
    "pkg:oci/app@sha256:ab?repository_url=r.example/app",
    ["pkg:oci/app?repository_url=https://r.example/app/"],
    ["pkg:oci/app?repository_url=s.example"],
  ],
  ["pkg:oci/app", ["pkg:oci/app?repository_url=r.example", "pkg:oci/app?tag=1"], []],
  ["pkg:golang/example.com/m@v1#a", ["pkg:golang/example.com/m", "pkg:golang/example.com/m#b"], []],
  // A subpath of Go is a part of the module path, or a package in the module.
  [
    "pkg:golang/github.com/a/b@v5.5.3#v5",
    ["Go github.com/a/b/v5", "pkg:golang/github.com/a/b#v5"],
    ["Go github.com/a/b"],
  ],
  [
    "pkg:golang/github.com/a/b/v5@v5.5.3",
    ["pkg:golang/github.com/a/b#v5"],
    ["Go github.com/a/b", "Go github.com/a/b/v4"],
  ],
  ["pkg:golang/github.com/a/b@v5.5.3%2Bincompatible#v5", ["Go github.com/a/b", "Go github.com/a/b/v5"], []],
  [
    "pkg:golang/github.com/a/b@v0.0.0-20300101000000-aaaaaaaaaaaa#v5",
    ["Go github.com/a/b", "Go github.com/a/b/v5"],
    [],
  ],
  ["pkg:golang/github.com/a/b@v1.2.0#service/s3", ["Go github.com/a/b", "Go github.com/a/b/service/s3"], ["Go a/b/s3"]],
  ["pkg:golang/github.com/A/b#sdk/v2", ["Go github.com/a/b/sdk/v2", "Go github.com/a/b/sdk"], ["Go github.com/a"]],
  ["pkg:golang/gopkg.in/yaml.v3@v3.0.1", ["Go gopkg.in/yaml.v3"], ["Go gopkg.in/yaml.v2"]],
  ["pkg:github/a/b@v3#init", ["GitHub Actions a/b", "GitHub Actions a/b/init"], ["GitHub Actions a/c"]],
  ["pkg:githubactions/a/b/init@v3", ["GitHub Actions a/b", "pkg:github/a/b"], ["GitHub Actions a"]],
  // The source that a package is built from.
  ["pkg:deb/debian/libcurl4@1?upstream=curl", ["Debian:12 curl", "Debian:12 libcurl4"], ["Debian:12 openssl"]],
  ["pkg:rpm/redhat/bash-doc@1-1.el9?upstream=bash-1-1.el9.src.rpm", ["pkg:rpm/redhat/bash"], []],
];

describe("what statements are about", () => {
  for (const [query, about, others] of matches) {
    it(JSON.stringify(query), () => {
      for (const text of about) assert.ok(isAbout(statement(text), asked(query)), text);
      for (const text of others) assert.ok(!isAbout(statement(text), asked(query)), text);
    });
  }

  it("an action is found by its repository", () => {
    const product = productOf("GitHub Actions", "actions/checkout");
    const about = create(ProductStatementSchema, { product });
    assert.ok(isAbout(about, asked("pkg:github/actions/checkout@v4")));
    assert.ok(isAbout(about, asked("pkg:githubactions/actions/checkout@v4")));
  });

  it("a package is found by its package URL and by its name, where they are not alike", () => {
    const product = create(ProductSchema, { purl: "pkg:deb/debian/a-b", ecosystem: "Debian", name: "a.b" });
    assert.equal(packageKeysOf(product).length, 2);
    const about = create(ProductStatementSchema, { product });
    for (const query of ["pkg:deb/debian/a-b@1", "pkg:deb/debian/a.b@1"]) assert.ok(isAbout(about, asked(query)));
  });

  it("a product without a package URL, or of an ecosystem in another case, is found by both", () => {
    for (const ecosystem of ["PyPI", "pypi", "pip"]) {
      const about = create(ProductStatementSchema, { product: { ecosystem, name: "Jinja2" } });
      for (const query of ["pkg:pypi/jinja2@1", { ecosystem: "pypi", name: "jinja2" }])
        assert.ok(isAbout(about, asked(query)), ecosystem);
    }
    // The key under which an earlier version stored it.
    assert.ok(asked("pkg:deb/debian/curl@1").versions.has("debian:curl"));
    assert.ok(asked({ ecosystem: "debian:12", name: "curl" }).versions.has("debian:curl"));
  });

  it("the version of the source is that of the package unless the query has another", () => {
    const of = (query: string, text: string) => versionFor(statement(text).product!, asked(query));
    assert.equal(of("pkg:deb/debian/libcurl4@1?upstream=curl", "Debian curl"), "1");
    assert.equal(of("pkg:deb/debian/libcurl4@1?upstream=curl%402", "Debian curl"), "2");
    assert.equal(of("pkg:deb/debian/libcurl4@1?upstream=curl%402", "Debian libcurl4"), "1");
    assert.equal(of("pkg:deb/debian/curl@1?upstream=curl%402", "Debian curl"), "1");
    assert.equal(of("pkg:rpm/redhat/a@1-1?epoch=2", "pkg:rpm/redhat/a"), "2:1-1");
  });

  it("a query is a package URL, or an ecosystem and a name, with one version", () => {
    for (const [parts, field] of [
      [{}, "ecosystem"],
      [{ name: "a" }, "ecosystem"],
      [{ ecosystem: "npm" }, "name"],
      [{ purl: "npm/a" }, "purl"],
      [{ purl: "pkg:npm/a", name: "a" }, "name"],
      [{ purl: "pkg:npm/a", ecosystem: "npm" }, "ecosystem"],
      [{ purl: "pkg:npm/a@1", version: "1" }, "version"],
    ] as const) {
      const found = readPackage(named(parts));
      assert.equal("field" in found ? found.field : "", field);
    }
    const separate = asked({ purl: "pkg:rpm/redhat/a?epoch=2", version: "1-1" });
    assert.ok([...separate.versions.values()].includes("2:1-1"));
  });
});

describe("releases", () => {
  it("two releases are equal if nothing distinguishes them", () => {
    for (const [a, b] of [
      ["12", "debian-12.5"],
      ["v3.18", "alpine-3.18.4"],
      ["22.04:LTS", "ubuntu-22.04"],
      ["Pro:18.04:LTS", "ubuntu-18.04"],
      ["jammy", "ubuntu-22.04"],
      ["enterprise_linux:8::appstream", "rhel-8.6"],
      ["edge", "alpine-3.18"],
      ["Jammy", "jammy"],
      ["Linux Enterprise Server 15 SP6", "sles-15.6"],
      ["Tumbleweed", "opensuse-tumbleweed-20260131"],
      ["opensuse-tumbleweed-20260101", "opensuse-tumbleweed-20260131"],
      ["Tumbleweed", "20260131"],
      ["jammy", "ubuntu-jammy"],
    ] as const) {
      assert.ok(mayBeSameRelease(a, b), `${a} ${b}`);
      assert.ok(mayBeSameRelease(b, a), `${b} ${a}`);
    }
  });

  it("two releases differ if their numbers or names do", () => {
    for (const [a, b] of [
      ["12", "debian-11"],
      ["v3.18", "v3.19"],
      ["8", "88"],
      ["rhel_aus:8.4::baseos", "rhel-8.6"],
      ["jammy", "focal"],
      ["Tumbleweed", "Leap 15.6"],
      ["opensuse-tumbleweed-20260131", "opensuse-leap-15.6"],
    ] as const)
      assert.ok(!mayBeSameRelease(a, b), `${a} ${b}`);
  });
});

describe("statements on a part of a package", () => {
  const part = (status: ProductStatus) => {
    const { product } = parseProduct("pkg:golang/a.example/b#cmd/tool")!;
    const record = { format: RecordFormat.OPENVEX, statements: [{ product, status }] };
    return create(AdvisoryStatementsSchema, { records: [record] });
  };

  it("a statement that a part of a package is safe does not hold for the rest of the package", () => {
    for (const status of [ProductStatus.FIXED, ProductStatus.NOT_AFFECTED]) {
      assert.equal(evaluate(part(status), asked("pkg:golang/a.example/b@v1.0.0")), undefined);
      for (const inner of ["#cmd/tool", "#cmd/tool/x", "/cmd/tool"]) {
        const [path = "", subpath = ""] = inner.startsWith("#") ? ["", inner] : [inner];
        assert.equal(evaluate(part(status), asked(`pkg:golang/a.example/b${path}@v1.0.0${subpath}`))?.status, status);
      }
    }
  });

  it("a statement that a part of a package is affected holds for the package", () => {
    const answer = evaluate(part(ProductStatus.AFFECTED), asked("pkg:golang/a.example/b@v1.0.0"));
    assert.equal(answer?.status, ProductStatus.AFFECTED);
  });
});

describe("generated records of OSV", () => {
  it("queries evaluate generated OSV records as the OSV specification says, for every package and many versions", () => {
    const draws = newDraws(7);
    const packages = generatedEcosystems.flatMap(({ ecosystem, names, releases = [] }) =>
      ["", ...releases.map((release) => `:${release}`)].flatMap((release) =>
        names.map((name) => ({ ecosystem: ecosystem + release, name })),
      ),
    );
    const counts = { affected: 0, others: 0 };
    for (const document of generatedRecords(27, 150)) {
      const [item] = readOsv(document, { source: "" }).items;
      const records = item?.record ? [item.record] : [];
      for (const { ecosystem, name } of packages) {
        const rank = draws.below(1000);
        const expected = isAffected(document, { ecosystem, name, rank });
        const query = asked({ ecosystem, name, version: versionOf(ecosystem, rank) });
        const answer = evaluate(create(AdvisoryStatementsSchema, { records }), query);
        const message = `${ecosystem} ${name} ${versionOf(ecosystem, rank)} in ${JSON.stringify(document)}`;
        assert.equal(answer?.status === ProductStatus.AFFECTED, expected, message);
        counts[expected ? "affected" : "others"]++;
      }
    }
    assert.ok(counts.affected > 200 && counts.others > 200, JSON.stringify(counts));
  });
});
