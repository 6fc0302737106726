// Products: what package URLs mean, which of them are the same, and how queries and advisories call them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { productOf } from "../../src/advisories/ecosystems.ts";
import {
  advisoryIdOf,
  artifactOf,
  componentOf,
  identityOf,
  packageKeyOf,
  parseProduct,
  productOfArtifact,
} from "../../src/advisories/product.ts";
import { readPurl, writePurl } from "../../src/advisories/purl.ts";
import { derivedId } from "../../src/services/vulnerabilities/advisories/advisory-fields.ts";

const productOfPurl = (text: string) => parseProduct(text)?.product ?? assert.fail(text);
const identity = (text: string) => identityOf(productOfPurl(text));

/** Package URLs, the identity of their products and their versions. */
const read: readonly (readonly [text: string, identity: string, version: string])[] = [
  // The form.
  ["pkg:npm/%40Scope/Name@1.2.3", "pkg:npm/%40scope/name", "1.2.3"],
  ["pkg:npm/@scope/name@1.2.3", "pkg:npm/%40scope/name", "1.2.3"],
  ["PKG:NPM/a", "pkg:npm/a", ""],
  ["pkg://npm/a@1", "pkg:npm/a", "1"],
  [" pkg:npm/a@1\n", "pkg:npm/a", "1"],
  ["pkg:npm//a/@1", "pkg:npm/a/%401", ""],
  // Percent-encoding is decoded, and written again in its canonical form.
  ["pkg:npm/%6Codash@4%2E17", "pkg:npm/lodash", "4.17"],
  ["pkg:golang/github.com%2FA%2Fb@v1.0.0", "pkg:golang/github.com/A/b", "v1.0.0"],
  ["pkg:generic/a%20b", "pkg:generic/a%20b", ""],
  ["pkg:deb/debian/libstdc++6@12.2.0-14+deb12u1", "pkg:deb/debian/libstdc%2B%2B6", "12.2.0-14+deb12u1"],
  ["pkg:npm/a@1.0%2Bbuild", "pkg:npm/a", "1.0+build"],
  ["pkg:npm/a@1?x=y&x=y", "pkg:npm/a?x=y", "1"],
  // Rules of types.
  ["pkg:pypi/Zope.Interface__x@1", "pkg:pypi/zope-interface-x", "1"],
  ["pkg:composer/Vendor/Name", "pkg:composer/vendor/name", ""],
  ["pkg:maven/org.Example/Name@1", "pkg:maven/org.Example/Name", "1"],
  ["pkg:golang/github.com/Sirupsen/logrus", "pkg:golang/github.com/Sirupsen/logrus", ""],
  ["pkg:pub/a-b", "pkg:pub/a_b", ""],
  ["pkg:cran/A3", "pkg:cran/A3", ""],
  ["pkg:swift/github.com/a/b", "pkg:swift/github.com/a/b", ""],
  ["pkg:maven/org.example:name@1", "pkg:maven/org.example/name", "1"],
  // Qualifiers: those that identify, and those that describe.
  ["pkg:oci/X@sha256:ab?repository_url=r.example/x", "pkg:oci/x?repository_url=r.example%2Fx", "sha256:ab"],
  ["pkg:apk/wolfi/x@1-r0?distro=wolfi&arch=x86_64", "pkg:apk/wolfi/x?arch=x86_64&distro=wolfi", "1-r0"],
  ["pkg:apk/wolfi/x?Arch=x86_64&os=", "pkg:apk/wolfi/x?arch=x86_64", ""],
  ["pkg:npm/a@1?checksum=sha1:00&download_url=u&vcs_url=v&file_name=f&vers=1", "pkg:npm/a", "1"],
  ["pkg:deb/debian/libcurl4@7?upstream=curl%407&package-id=1f", "pkg:deb/debian/libcurl4", "7"],
  ["pkg:maven/g/a@1?type=zip&classifier=dist", "pkg:maven/g/a?classifier=dist&type=zip", "1"],
  ["pkg:generic/a?note=b+c", "pkg:generic/a?note=b%2Bc", ""],
  ["pkg:generic/a?note=b%20c", "pkg:generic/a?note=b%20c", ""],
  // The epoch is a part of the version.
  ["pkg:rpm/redhat/bind@9.11-1.el8?arch=x86_64&epoch=32", "pkg:rpm/redhat/bind?arch=x86_64", "32:9.11-1.el8"],
  ["pkg:rpm/redhat/bind@32:9.11-1.el8?epoch=32", "pkg:rpm/redhat/bind", "32:9.11-1.el8"],
  ["pkg:rpm/redhat/bind@9.11-1.el8?epoch=0", "pkg:rpm/redhat/bind", "9.11-1.el8"],
  ["pkg:rpm/redhat/bind?epoch=32", "pkg:rpm/redhat/bind", ""],
  // A part of a package is not the package.
  ["pkg:golang/example.com/m@v1.0.0#a/./b/", "pkg:golang/example.com/m#a/b", "v1.0.0"],
];

describe("products", () => {
  for (const [text, expected, version] of read) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const found = parseProduct(text);
      assert.deepEqual([found?.product.purl, found?.version, found?.problem], [expected, version, ""]);
    });
  }

  it("reads a package URL that only breaks a rule of its type, and names the rule", () => {
    for (const [text, expected, problem] of [
      ["pkg:maven/name@1", "pkg:maven/name", "namespace"],
      ["pkg:oci/team/app@1", "pkg:oci/team/app", "namespace"],
      ["pkg:swift/name@1", "pkg:swift/name", "namespace"],
      ["pkg:pub/a.b@1", "pkg:pub/a.b", "name"],
      ["pkg:golang/a@vlatest", "pkg:golang/a", "version"],
      ["pkg:npm/100%@1", "pkg:npm/100%25", "percent"],
      ["pkg:npm/a%ff@1", "pkg:npm/a%25ff", "percent"],
    ] as const) {
      const found = parseProduct(text);
      assert.equal(found?.product.purl, expected);
      assert.match(found?.problem ?? "", new RegExp(problem));
    }
  });

  it("rejects texts that readers could take for different products", () => {
    for (const text of [
      "",
      "a",
      "npm/a",
      "pkg:",
      "pkg:npm",
      "pkg:npm/",
      "pkg:npm/%20",
      "https://example.com",
      "pkg:n%70m/a",
      "pkg:1a/b",
      "pkg://user:secret@host/a",
      "pkg:npm/a\nb",
      "pkg:npm/a%0Ab",
      "pkg:npm/a%00",
      "pkg:apk/wolfi/x?arch=a&arch=b",
      "pkg:apk/wolfi/x?arch=a&ARCH=b",
      "pkg:npm/a?1x=y",
      "pkg:npm/a?=y",
    ])
      assert.equal(parseProduct(text), undefined, text);
  });

  it("the identity is the package URL, else the CPE, else the name in the ecosystem", () => {
    const of = (parts: object) => identityOf(create(ProductSchema, parts));
    assert.equal(of({ purl: "pkg:npm/a", cpe: "c", ecosystem: "npm", name: "A" }), "pkg:npm/a");
    assert.equal(of({ cpe: "cpe:2.3:a:v:p:*", name: "A" }), "cpe:2.3:a:v:p:*");
    assert.equal(of({ ecosystem: "Linux", name: "Kernel" }), "Linux:Kernel");
    assert.equal(of({ name: "A" }), "A");
  });
});

/** The artifact of each package URL: name, type, architecture, and the component of libraries. */
const artifacts: readonly (readonly [purl: string, artifact: readonly string[], component?: string])[] = [
  ["pkg:golang/github.com/a/b", ["github.com/a/b", "library", ""], "go-module"],
  ["pkg:maven/org.a/b", ["org.a:b", "library", ""], "java"],
  ["pkg:npm/%40a/b", ["@a/b", "library", ""], "npm"],
  ["pkg:pypi/A_b", ["a-b", "library", ""], "python"],
  ["pkg:cargo/c", ["c", "library", ""], "rust-crate"],
  ["pkg:githubactions/a/b", ["a/b", "library", ""], "github actions"],
  ["pkg:vscode-extension/a/b.c", ["a.b.c", "library", ""], "vscode"],
  ["pkg:apk/wolfi/a?arch=x86_64", ["a", "apk", "x86_64"]],
  ["pkg:deb/debian/a", ["a", "deb", ""]],
  ["pkg:oci/a?arch=arm64&repository_url=r.example", ["a", "image", "arm64"]],
  ["pkg:docker/library/a", ["a", "image", ""]],
];

describe("artifacts of products", () => {
  for (const [purl, artifact, component] of artifacts) {
    it(purl, () => {
      const product = productOfPurl(purl);
      assert.deepEqual(Object.values(artifactOf(product)), artifact);
      assert.deepEqual(componentOf(product)?.type, component);
    });
  }

  it("products without package URL have the name of their identity", () => {
    const of = (parts: object) => Object.values(artifactOf(create(ProductSchema, parts))).slice(0, 2);
    assert.deepEqual(of({ ecosystem: "Linux", name: "Kernel" }), ["Kernel", "library"]);
    assert.deepEqual(of({ name: "https://example.com/r.git" }), ["https://example.com/r.git", ""]);
    assert.deepEqual(of({ cpe: "cpe:2.3:o:v:p:*:*:*:*:*:*:*:*", name: "P 1.2" }), ["p", ""]);
    assert.deepEqual(of({ cpe: "cpe:/a:v:p", name: "P 1.2" }), ["p", ""]);
  });

  it("an artifact named by the API is converted back to its product", () => {
    const of = (name: string, type: string, architecture = "", component = "") =>
      productOfArtifact({ name, type, architecture }, { name, type: component }).purl;
    assert.equal(of("a", "apk", "x86_64"), "pkg:apk/a?arch=x86_64");
    assert.equal(of("team/a", "image"), "pkg:oci/team/a");
    assert.equal(of("org.a:b", "library", "", "java"), "pkg:maven/org.a/b");
    assert.equal(of("@a/b", "library", "", "npm"), "pkg:npm/%40a/b");
    for (const name of ["a\nb", " ", ""]) assert.equal(of(name, "apk"), "", name);
    assert.equal(of("a", "source"), "");
  });

  it("libraries and images without qualifiers keep their former public ids, and others have new ones", () => {
    for (const [purl, type, name] of [
      ["pkg:golang/github.com/a/b", "library", "github.com/a/b"],
      ["pkg:maven/org.a/b", "library", "org.a:b"],
      ["pkg:oci/a", "image", "a"],
    ] as const)
      assert.equal(advisoryIdOf(productOfPurl(purl), "CVE-1"), derivedId({ type, name }, "CVE-1"));
    const others = [
      "pkg:apk/wolfi/a",
      "pkg:apk/alpine/a",
      "pkg:apk/wolfi/a?arch=x86_64",
      "pkg:apk/a",
      "pkg:golang/a#b",
    ];
    const ids = [...others, "pkg:oci/a?repository_url=r", "pkg:oci/a?repository_url=s"].map((purl) =>
      advisoryIdOf(productOfPurl(purl), "CVE-1"),
    );
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe("keys of packages", () => {
  it("all names of one package have the same key", () => {
    for (const group of [
      ["pkg:apk/wolfi/a@1?arch=x86_64", "pkg:apk/wolfi/a?arch=aarch64", "pkg:apk/wolfi/A"],
      ["pkg:nuget/Newtonsoft.Json", "pkg:nuget/newtonsoft.json@1"],
      ["pkg:golang/github.com/Sirupsen/logrus", "pkg:golang/github.com/sirupsen/logrus#x"],
      ["pkg:rpm/rocky/a", "pkg:rpm/rocky-linux/a?epoch=1"],
    ])
      assert.equal(new Set(group.map((purl) => packageKeyOf(productOfPurl(purl)))).size, 1, String(group));
    assert.equal(packageKeyOf(productOf("Debian", "a")), packageKeyOf(productOfPurl("pkg:deb/debian/a?arch=source")));
    const named = (name: string) => packageKeyOf(create(ProductSchema, { ecosystem: "Linux", name }));
    assert.equal(named("Kernel"), named("kernel"));
  });

  it("keys differ between distributions and ecosystems", () => {
    const purls = [
      "pkg:apk/wolfi/a",
      "pkg:apk/alpine/a",
      "pkg:apk/a",
      "pkg:npm/a",
      "pkg:npm/%40a/a",
      "pkg:oci/rocky/a",
    ];
    assert.equal(new Set(purls.map((purl) => packageKeyOf(productOfPurl(purl)))).size, purls.length);
  });
});

/** Numbers that are the same at every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("generated package URLs", () => {
  const types = [
    "npm",
    "pypi",
    "maven",
    "golang",
    "deb",
    "rpm",
    "apk",
    "oci",
    "pub",
    "generic",
    "cran",
    "huggingface",
    "x+y",
  ];
  const letters = [
    "a",
    "B",
    "é",
    "İ",
    "%",
    "/",
    "@",
    ":",
    "+",
    " ",
    ".",
    "..",
    "-",
    "_",
    "?",
    "#",
    "&",
    "=",
    "~",
    "'",
    "字",
  ];
  const parts = (seed: number) => {
    const random = seeded(seed);
    const text = (most: number) => Array.from({ length: random(most) }, () => letters[random(letters.length)]).join("");
    const keys = ["arch", "distro", "epoch", "checksum", "repository_url"].filter(() => random(3) === 0);
    const qualifiers = new Map(keys.map((key) => [key, text(5)]));
    const place = {
      namespace: text(5),
      name: `n${text(6)}`,
      version: text(4),
      subpath: random(4) === 0 ? text(4) : "",
    };
    return { type: types[random(types.length)]!, ...place, qualifiers };
  };

  it("the canonical form of the canonical form is itself", () => {
    for (let seed = 0; seed < 400; seed++) {
      const canonical = writePurl(parts(seed));
      const again = readPurl(canonical);
      if (!again) continue;
      const once = writePurl(again);
      assert.equal(writePurl(readPurl(once) ?? assert.fail(once)), once);
      assert.equal(identity(identity(canonical)), identity(canonical));
    }
  });

  it("two identities are equal exactly when the products are", () => {
    const same = (a: string, b: string) => {
      const key = (text: string) => {
        const { type, namespace, name, subpath, qualifiers } = readPurl(text)!;
        const identifying = [...qualifiers].filter(([name]) => !["checksum", "epoch"].includes(name)).sort();
        return JSON.stringify([type, namespace, name, subpath, identifying]);
      };
      return key(a) === key(b);
    };
    const texts = Array.from({ length: 120 }, (_, seed) =>
      writePurl({ ...parts(seed), namespace: "", type: "generic" }),
    );
    const readable = texts.filter((text) => readPurl(text) !== undefined);
    assert.ok(readable.length > 60);
    for (const a of readable)
      for (const b of readable) assert.equal(identity(a) === identity(b), same(a, b), `${a} ${b}`);
  });

  it("encoding every character changes nothing", () => {
    const encoded = (text: string) =>
      [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    for (let seed = 0; seed < 200; seed++) {
      const purl = readPurl(writePurl(parts(seed)));
      if (!purl || purl.type === "oci") continue;
      const segments = [...purl.namespace.split("/"), purl.name].filter((part) => part !== "");
      const text = `pkg:${purl.type}/${segments.map(encoded).join("/")}`;
      const plain = writePurl({ ...purl, version: "", qualifiers: new Map(), subpath: "" });
      assert.equal(identity(text), identity(plain));
    }
  });
});
