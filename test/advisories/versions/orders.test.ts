// The orders of versions, by the examples of their specifications.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ProductSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import {
  orderIn,
  orderOf,
  semverOrder,
  unknownOrder,
  type VersionOrder,
} from "../../../src/advisories/versions/order.ts";

const orderOfPurl = (purl: string) => orderOf(create(ProductSchema, { purl }));
const orderOfEcosystem = (ecosystem: string) => orderOf(create(ProductSchema, { ecosystem }));

interface Expected {
  readonly order: VersionOrder;
  /** Each line from the first version to the last. */
  readonly ascending: readonly string[];
  /** Each line the same version. */
  readonly same: readonly string[];
  /** A value that is not a version. */
  readonly unknown?: readonly string[];
}

const orders: Readonly<Record<string, Expected>> = {
  "SemVer 2.0 §11": {
    order: orderOfPurl("pkg:npm/a"),
    ascending: [
      "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0",
      "1.0.0 2.0.0 2.1.0 2.1.1",
      "1.9.0 1.10.0 1.11.0",
      "4.17 4.17.1 v4.18",
      "1.0.0-9007199254740992 1.0.0-9007199254740993 1.0.0-10000000000000000000 1.0.0-1a 1.0.0",
    ],
    same: ["1.0.0 1.0.0+build v1.0.0 1.0 1 01.0.0"],
    unknown: ["", "latest", "1.2.3.4", "1.x", "(devel)", "1.0.0-é", "1.1.1k"],
  },
  "SemVer, a pre-release without its hyphen": {
    order: orderOfPurl("pkg:cargo/a"),
    ascending: ["1.0.0alpha1 1.0.0beta2 1.0.0rc1 1.0.0"],
    same: ["1.0.0rc1 1.0.0-rc1"],
  },
  Go: {
    order: orderOfPurl("pkg:golang/a"),
    ascending: [
      "v0.0.0-20190101000000-aaaaaaaaaaaa v0.0.0-20200101000000-aaaaaaaaaaaa v0.1.0",
      "1.21.0-0 go1.21rc2 go1.21 1.21.1",
    ],
    same: ["v2.0.0+incompatible 2.0.0", "go1.21.3 1.21.3"],
  },
  Pub: { order: orderOfPurl("pkg:pub/a"), ascending: ["1.0.0-a 1.0.0 1.0.0+1 1.0.0+2 1.0.1"], same: ["1.0.0 1.0.0"] },
  "Julia, VersionNumber": {
    order: orderOfPurl("pkg:julia/a"),
    ascending: [
      "6.9.12-rc1 6.9.12-rc1+1 6.9.12 6.9.12+0 6.9.12+2 6.9.12+3 6.9.12+10 6.9.12+a 6.9.13",
      "6.9.12+9007199254740992 6.9.12+9007199254740993",
    ],
    same: ["6.9.12+2 v6.9.12+2"],
  },
  "Bitnami, with revisions": {
    order: orderOfPurl("pkg:bitnami/a"),
    ascending: [
      "6.2.0 6.2.0-1 6.2.0-2 6.2.0-10 6.2.0-9007199254740992 6.2.0-9007199254740993 6.2.1",
      "1.4.0 1.4.0-alpha 1.4.0-alpha.2 1.4.1-0",
    ],
    same: ["6.2.0 v6.2.0 6.2.0+a"],
    unknown: ["", "a-1"],
  },
  "Conan, with letters": {
    order: orderOfPurl("pkg:conan/a"),
    ascending: [
      "1.1.0 1.1.1-rc.1 1.1.1 1.1.1a 1.1.1k 1.1.2",
      "1.0.0 1.0.0+1 1.0.0+2 1.0.0+9007199254740992 1.0.0+9007199254740993 1.0.1",
      "cci.20200101 cci.20210101",
    ],
    same: ["1.0.0 1.0 1"],
    unknown: ["", "cci.20200101", "1.0!"],
  },
  "GitHub Actions": {
    order: orderOfPurl("pkg:githubactions/a/b"),
    ascending: ["v3 v4 5.0.0", "4.0.0 4.0.1 v4.1.0 v5"],
    same: ["4.1 4.1.0 v4.1.0", "v4 4.0.0"],
    unknown: ["main", ""],
  },
  Kubernetes: {
    order: orderOfEcosystem("Kubernetes"),
    ascending: ["1.27.3-alpha.1 1.27.3-rc.0 1.27.3 1.27.4-gke.1 1.27.5+k3s1"],
    same: ["v1.27.3 1.27.3-gke.100 1.27.3-eks-a5565ad"],
  },
  "PEP 440": {
    order: orderOfPurl("pkg:pypi/a"),
    ascending: [
      "1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0b2.post345.dev456 1.0b2.post345 1.0rc1.dev456 1.0rc1 1.0 1.0+abc.5 1.0+abc.7 1.0+5 1.0.post456.dev34 1.0.post456 1.0.15 1.1.dev1",
      "2013.10 1!1.0",
    ],
    same: ["1.0 1 1.0.0 v1.0", "1.1rc1 1.1.RC1 1.1-c1", "1.0-1 1.0.post1"],
    unknown: ["2004d", "", "1.99999999999999999999"],
  },
  "Maven, Version Order Specification": {
    order: orderOfPurl("pkg:maven/a/b"),
    ascending: [
      "1 1.1",
      "1-snapshot 1 1-sp",
      "1-foo2 1-foo10",
      "1-foo 1-1 1.1",
      "1-ga 1-sp",
      "1-ga.1 1-sp.1",
      "1-sp-1 1-ga-1",
      "1.0-alpha-1 1.0-beta-1 1.0-milestone-1 1.0-rc-1 1.0-SNAPSHOT 1.0 1.0-sp 1.0-other 1.0-1",
      "0-alpha 0.0.0-2021-05-17T01 0.0.1 1.0-rc-1 20.0.0",
      "2.0.0.M1 2.0.0.RC1 2.0.0.RELEASE 2.0.1",
      "1.0.0.Final 1.0.0.Final-redhat-1",
    ],
    same: [
      "1.ga 1-ga 1-0 1.0 1 1. 1- 1.0.0-0.0.0 1.final 1.RELEASE",
      "1-a1 1-alpha-1",
      "1.foo 1-foo 1.0-FOO",
      "1-ga-1 1-1",
      "1.0-cr1 1.0-rc1",
    ],
  },
  RubyGems: {
    order: orderOfPurl("pkg:gem/a"),
    ascending: ["1.8.2.a9 1.8.2.a10 1.8.2.b 1.8.2 1.8.2.1", "1.0.a 1.0.b1 1.0", "0.9 1.0 1.10", "1.0.0-rc1 1.0.0"],
    same: ["1.0 1 1.0.0", "1.0.a 1.a", "1.0-rc1 1.0.pre.rc1"],
    unknown: ["", "junk", "1.0\n2.0"],
  },
  NuGet: {
    order: orderOfPurl("pkg:nuget/a"),
    ascending: [
      "1.0.1-aaa 1.0.1-alpha 1.0.1-alpha10 1.0.1-alpha2 1.0.1-beta 1.0.1-open 1.0.1-rc.2 1.0.1-rc.10 1.0.1-zzz 1.0.1 1.0.1.1",
      "1.9 1.10",
      // Labels that do not fit into 32 bits are texts.
      "1.0--1 1.0-5 1.0-2147483647 1.0-10000000000 1.0-2147483648 1.0-9007199254740992 1.0-9007199254740993 1.0-a",
    ],
    same: ["1.0 1.00 1.0.0 1.0.0.0 v1.0", "1.01.1 1.1.1", "1.0-Beta 1.0-beta", "1.0+a 1.0+b"],
    unknown: ["1.0.0.0.0", "", "a"],
  },
  Composer: {
    order: orderOfPurl("pkg:composer/a/b"),
    ascending: [
      "1.0-dev 1.0-alpha1 1.0-beta2 1.0-beta10 1.0-RC1 1.0 1.0-patch1 1.0-p2 1.0.1",
      "1.0-beta1-dev 1.0-beta1 1.0-beta1.0 1.0-beta1.0.0 1.0-beta1.1",
      "1.0-alpha 1.0-alpha.0 1.0-alpha1",
      // The word for the release is known in lower case only.
      "0.9 1.0-STABLE 1.0-dev 1.0",
    ],
    same: ["1.0 1.0.0 v1.0.0.0 1.0-stable 1.0-stable2 1.0-stable-dev 1.0+build", "1.0b2 1.0-beta2 1.0.0-beta.2"],
    unknown: ["dev-main", "", "1.0-word", "1.0.0.0.0"],
  },
  "R packages": {
    order: orderOfPurl("pkg:cran/a"),
    ascending: ["0.9 1.0 1.0.0 1.0-1 1.2.3 1.2-4", "1.9 1.10"],
    same: ["1.2-3 1.2.3", "1.02 1.2"],
    unknown: ["1.0a", "", "1..0"],
  },
  "deb-version(7)": {
    order: orderOfPurl("pkg:deb/debian/a"),
    ascending: [
      "1.0~~ 1.0~~a 1.0~ 1.0 1.0a",
      "1.0~beta1~svn1245 1.0~beta1 1.0",
      "10.3 1:0.4",
      "7.6-0 7.6p2-4",
      "1.0-1 1.0.3-3",
      "1.2.2-2 1.3",
      "1.2.3-1 1.2.3-1ubuntu0.1 1.2.3-1+deb12u1 1.2.3-2",
      "1a 1+",
    ],
    same: ["1.0 0:1.0 1.0-0 1.0-", "1.01 1.1"],
  },
  "rpm-version(7)": {
    order: orderOfPurl("pkg:rpm/redhat/a"),
    ascending: [
      "1.0 2.0 2.0.1 2.0.1a",
      "5.5p1 5.5p2 5.5p10 5.6p1 6.5p1",
      "10xyz 10.1xyz",
      "xyz10 xyz10.1",
      "xyz.4 2 8",
      "6.0 6.0.rc1",
      "10a1 10a2 10b2",
      "1.0~rc1~git123 1.0~rc1 1.0~rc1^git1 1.0 1.0^git1~pre 1.0^git1 1.0^git2 1.0.1",
      "9.9-9 1:1.0-1",
      "1.0-1.el8 1.0-1.el8_2 1.0-2.el8",
    ],
    same: ["10.0001 10.1", "2_0 2.0 2+0", "1.0-1 0:1.0-1"],
  },
  "apk-package(5)": {
    order: orderOfPurl("pkg:apk/alpine/a"),
    ascending: [
      "0.1.0_alpha_pre2 0.1.0_alpha 0.1.0_beta 0.1.0_pre1 0.1.0_rc2 0.1.0_rc10 0.1.0 0.1.0_cvs 0.1.0_svn 0.1.0_git 0.1.0_hg 0.1.0_p9 0.1.0_p10",
      "1.0 1.0-r0 1.0-r1 1.0-r10 1.0_p1 1.0a 1.0b 1.0.1 1.1",
      "1.05 1.1",
      "1.9 1.10",
      "2 10",
      "1.9.4-r2 1.9.4_p1-r0 1.9.4p-r0 1.9.4p2-r0 1.9.4p10-r0 1.9.5-r0",
      "10.2.22-r0 10.2.24.r0 10.2.25-word 10.3.0-r1 10.3.0-r2-1",
    ],
    same: ["1.2.3-r0 1.2.3-r00"],
    unknown: ["", "a", "1.0_word", "1.0-1", "1.0-r", "1.0beta1", "1.0.r0", "1..0", "0:2.0", "2:1.0"],
  },
  opam: { order: orderOfPurl("pkg:opam/a"), ascending: ["1.0~beta 1.0 1.0.1"], same: ["1.0 1.00"] },
  "Linux, kernel.org": {
    order: orderOfEcosystem("Linux"),
    ascending: ["2.6.32.9 2.6.32.71 5.9 5.10 5.10.1 6.0-rc2 6.0-rc10 6.0"],
    same: ["6.0 6.0.0 6.0.0-13-amd64 v6.0-arch1"],
    unknown: ["", "next-20300101"],
  },
  "ranges of SemVer in ecosystems without a known order": {
    order: semverOrder,
    ascending: ["1.0.0-0 1.0.0"],
    same: ["v1.0.0 1.0.0"],
  },
};

/** Numbers that are the same at every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const letters = [
  "0",
  "1",
  "2",
  "10",
  "01",
  ".",
  ".",
  "-",
  "_",
  "~",
  "^",
  "+",
  ":",
  "a",
  "b",
  "rc",
  "beta",
  "_p",
  "-r",
  "dev",
  "X",
  "é",
];

function generated(random: (below: number) => number): string {
  return `${random(3)}${Array.from({ length: random(6) }, () => letters[random(letters.length)]).join("")}`;
}

describe("orders of versions", () => {
  for (const [name, { order, ascending, same, unknown = [] }] of Object.entries(orders)) {
    it(name, () => {
      for (const line of ascending.map((text) => text.split(" "))) {
        for (const [i, a] of line.entries()) {
          for (const [j, b] of line.entries()) {
            assert.equal(Math.sign(order(a, b) ?? Number.NaN), Math.sign(i - j), `${a} and ${b}`);
          }
        }
      }
      for (const [first = "", ...others] of same.map((text) => text.split(" "))) {
        for (const other of others) assert.equal(order(first, other), 0, `${first} and ${other}`);
      }
      for (const text of unknown) assert.equal(order("1.0", text), undefined, text);
    });

    it(`${name}: any three versions have one order`, () => {
      const random = seeded(1);
      for (let i = 0; i < 300; i++) {
        const [a, b, c] = [generated(random), generated(random), generated(random)] as const;
        const [ab, ba, bc, ac] = [order(a, b), order(b, a), order(b, c), order(a, c)];
        assert.equal(ab === undefined, ba === undefined);
        if (ab !== undefined) assert.equal(Math.sign(ab) + Math.sign(ba!), 0, `${a} and ${b}`);
        if (ab === undefined || bc === undefined || ac === undefined) continue;
        if (ab <= 0 && bc <= 0) assert.ok(ac <= 0, `${a}, ${b}, ${c}`);
        if (ab === 0 && bc === 0) assert.equal(ac, 0, `${a}, ${b}, ${c}`);
      }
    });

    it(`${name}: long versions are compared in a time that grows with their length`, () => {
      for (const part of ["1", "1.", "a", "a1", "-", "~", "_p", "1-", "0", "a.", "_", "1a-"]) {
        const text = part.repeat(Math.floor(1000 / part.length));
        for (const end of ["", "!", "x", " "]) order(`1.0${text.slice(4)}${end}`, `1.0${text.slice(3)}`);
        assert.equal(order(`${text}${text}`, "1"), undefined);
      }
    });
  }

  it("an RPM version without a release may be any release of the version", () => {
    const order = orderOfPurl("pkg:rpm/redhat/a");
    assert.equal(order("1.0", "1.0-3"), undefined);
    assert.ok(order("1.0", "1.1-3")! < 0);
  });

  it("a part that the format of apk forbids is compared with nothing but itself", () => {
    const order = orderOfPurl("pkg:apk/alpine/a");
    for (const [a, b] of [
      ["1.2.r0", "1.2-r0"],
      ["1.2.r0", "1.2.r1"],
      ["1.2-word", "1.2-r1"],
      ["1.2_p1x", "1.2_p1"],
      ["1.2~abx", "1.2~ab"],
      ["1.2rc1", "1.2"],
    ] as const) {
      assert.equal(order(a, b), undefined, `${a} and ${b}`);
      assert.equal(order(b, a), undefined, `${b} and ${a}`);
    }
    assert.equal(order("1.2-word ", "1.2-word"), 0);
  });

  it("a moved tag of GitHub Actions may be any version that begins like it", () => {
    const order = orderOfPurl("pkg:github/a/b");
    for (const later of ["4.0.1", "v4.1", "4.1.0", "v4.2.0"]) {
      assert.equal(order("v4", later), undefined);
      assert.equal(order(later, "v4"), undefined);
    }
    assert.equal(order("v4.1", "4.1.2"), undefined);
    assert.ok(order("v4.1", "4.2.0")! < 0);
  });

  it("ranges of SemVer have the order of their ecosystem where it is known", () => {
    const julia = orderOfPurl("pkg:julia/a");
    const range = { type: "SEMVER" };
    assert.ok(orderIn(range, julia)("6.9.12+2", "6.9.12+3")! < 0);
    assert.ok(orderIn(range, orderOfPurl("pkg:nuget/a"))("1.0.0.4", "1.0.0.5")! < 0);
    assert.ok(orderIn(range, orderOfEcosystem("Android"))("1.0.0", "1.0.1")! < 0);
    assert.equal(orderIn({ type: "GIT" }, julia)("a", "b"), undefined);
  });

  it("versions of other ecosystems are equal only as texts", () => {
    for (const order of [
      unknownOrder,
      orderOfPurl("pkg:generic/a"),
      orderOfPurl("pkg:oci/a"),
      orderOfEcosystem("Android"),
    ]) {
      assert.deepEqual([order("1", "1"), order("1", "2")], [0, undefined]);
    }
  });

  it("versions of an ecosystem in another spelling have its order", () => {
    assert.ok(orderOfEcosystem("opensuse-leap:15.6")("9.0-1", "10.0-1")! < 0);
    assert.ok(orderOfEcosystem("pypi")("1.0rc1", "1.0")! < 0);
  });

  it("the release of a distribution and the address of a registry change nothing", () => {
    assert.ok(orderOfEcosystem("Linux:6")("5.9", "5.10")! < 0);
  });
});
