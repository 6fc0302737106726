// Packages of platforms, as vendors of distributions publish them: what becomes of them, and what a query finds. All documents are
// made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { artifactOf } from "../../../src/advisories/product.ts";
import { evaluate } from "../../../src/advisories/queries/evaluate.ts";
import { readPackage } from "../../../src/advisories/queries/package.ts";
import { worstOf } from "../../../src/advisories/versions/status.ts";
import { meaningOf } from "./meaning.ts";
import { csaf, type Json, product, read, statementsOf } from "./reading.ts";
import { advisoriesOf, write } from "./writing.ts";

const platforms = {
  linux8: { cpe: "cpe:/o:redhat:enterprise_linux:8" },
  linux9: { cpe: "cpe:/a:redhat:enterprise_linux:9::appstream" },
  eus90: { cpe: "cpe:/a:redhat:rhel_eus:9.0::appstream" },
  shift: { cpe: "cpe:/a:redhat:openshift:4.12::el8" },
  box: { cpe: "cpe:2.3:a:acme:box:3:*:*:*:*:*:*:*" },
  named: {},
} as const;
type Platform = keyof typeof platforms;

/** Returns a package of a platform: "linux9 pkg:rpm/…", or of a module of it: "linux9 pkg:rpmmod/… pkg:rpm/…". */
function treeOf(texts: readonly string[]): Json {
  const packages = [...new Set(texts.flatMap((text) => text.split(" ").slice(1)))];
  const relationships = new Map<string, Json>();
  for (const text of texts) {
    const [platform = "", ...path] = text.split(" ");
    path.reduce((whole, part) => {
      const id = `${whole} ${part}`;
      const references = { product_reference: part, relates_to_product_reference: whole };
      relationships.set(id, { category: "default_component_of", full_product_name: product(id), ...references });
      return id;
    }, platform);
  }
  return {
    full_product_names: [
      ...Object.entries(platforms).map(([id, helper]) => product(id, helper)),
      ...packages.map((purl) => product(purl, purl)),
    ],
    relationships: [...relationships.values()],
  };
}

type Statuses = Readonly<Record<string, readonly `${Platform} ${string}`[]>>;

function documentOf(statuses: Statuses): Json {
  return csaf([{ cve: "CVE-2030-1", product_status: statuses }], treeOf(Object.values(statuses).flat()));
}

const words: ReadonlyMap<number, string> = new Map([
  [ProductStatus.AFFECTED, "affected"],
  [ProductStatus.NOT_AFFECTED, "not affected"],
  [ProductStatus.FIXED, "fixed"],
  [ProductStatus.UNDER_INVESTIGATION, "under investigation"],
]);

/** Returns the answers of all advisories of a document about one version, in one line. */
function ask(document: Json, purl: string): string {
  const asked = readPackage({ purl, ecosystem: "", name: "", version: "" });
  if ("field" in asked) return assert.fail(asked.description);
  const answers = advisoriesOf(read(document).records).flatMap((each) => evaluate(each, asked) ?? []);
  const worst = worstOf(answers);
  if (!worst) return "nothing";
  return [words.get(worst.status), ...worst.fixedVersions, ...(worst.isUncertain ? ["uncertain"] : [])].join(" ");
}

describe("packages of platforms in CSAF", () => {
  const read1 = (text: string) => {
    const [{ status: _, ...statement }] = statementsOf({ product_status: { fixed: [text] } }, treeOf([text])) as [Json];
    return statement;
  };
  const cases: readonly (readonly [text: string, Json])[] = [
    [
      "linux9 pkg:rpm/redhat/curl@8.1-1.el9?arch=x86_64&epoch=1",
      { product: { purl: "pkg:rpm/redhat/curl" }, release: platforms.linux9.cpe, versions: ["1:8.1-1.el9"] },
    ],
    [
      "linux8 pkg:rpm/redhat/curl?arch=src",
      { product: { purl: "pkg:rpm/redhat/curl" }, release: platforms.linux8.cpe },
    ],
    // Without a version the other architectures are not meant.
    [
      "linux8 pkg:rpm/redhat/curl?arch=x86_64",
      { product: { purl: "pkg:rpm/redhat/curl?arch=x86_64" }, release: platforms.linux8.cpe },
    ],
    [
      "linux8 pkg:rpmmod/redhat/pg@13:8100:ab pkg:rpm/redhat/pg@13.2-1?arch=x86_64",
      {
        product: { purl: "pkg:rpm/redhat/pg" },
        release: `${platforms.linux8.cpe}, module pg:13`,
        versions: ["13.2-1"],
      },
    ],
    [
      "linux8 pkg:rpm/redhat/pg@13.2-1?arch=x86_64&rpmmod=pg:13:8100:ab",
      {
        product: { purl: "pkg:rpm/redhat/pg" },
        release: `${platforms.linux8.cpe}, module pg:13`,
        versions: ["13.2-1"],
      },
    ],
    [
      "linux8 pkg:rpmmod/redhat/go-toolset:rhel8/golang",
      { product: { purl: "pkg:rpm/redhat/golang" }, release: `${platforms.linux8.cpe}, module go-toolset:rhel8` },
    ],
    [
      "shift pkg:oci/app@sha256:ab?arch=amd64&repository_url=r.example/app&tag=v1",
      {
        product: { purl: "pkg:oci/app?repository_url=r.example%2Fapp" },
        release: platforms.shift.cpe,
        versions: ["sha256:ab"],
      },
    ],
    // A scanner looks for packages in the image.
    [
      "shift pkg:oci/app@sha256:ab pkg:npm/lib@1",
      {
        product: { purl: "pkg:oci/app" },
        release: platforms.shift.cpe,
        versions: ["sha256:ab"],
        subcomponents: ["pkg:npm/lib@1"],
      },
    ],
    ["named pkg:npm/lib@1", { product: { purl: "pkg:npm/lib" }, release: "Product named", versions: ["1"] }],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(read1(text), expected));

  it("a package of a platform is read as an advisory on the package, and written back unchanged", async () => {
    const document = documentOf({ fixed: cases.map(([text]) => text as `${Platform} ${string}`) });
    const advisories = advisoriesOf(read(document).records);
    const artifacts = advisories.map(({ records }) => artifactOf(records[0]!.statements[0]!.product!));
    assert.ok(artifacts.some(({ name, type }) => name === "curl" && type === "rpm"));
    assert.deepEqual(meaningOf((await write(advisories)).document), meaningOf(document));
  });

  it("builds for several architectures are one statement, whose texts are kept", async () => {
    const document = documentOf({
      fixed: ["x86_64", "aarch64", "src"].map(
        (arch) => `linux9 pkg:rpm/redhat/a§b@1%2B2-3?arch=${arch}&vcs_url=§v` as const,
      ),
    });
    const { records } = read(document);
    assert.equal(records[0]!.statements.length, 1);
    assert.deepEqual(meaningOf((await write(advisoriesOf(records))).document), meaningOf(document));
  });
});

describe("queries for packages of platforms", () => {
  const curl = (version: string, more = "") => `pkg:rpm/redhat/curl@${version}?arch=x86_64${more}`;
  const tables: readonly (readonly [name: string, Statuses, Readonly<Record<string, string>>])[] = [
    [
      "affected in all versions, with a fix for the same platform",
      { known_affected: ["linux9 pkg:rpm/redhat/curl?arch=src"], fixed: [`linux9 ${curl("2-1.el9")}`] },
      {
        [curl("1-1.el9")]: "affected 2-1.el9",
        [curl("2-1.el9")]: "fixed 2-1.el9",
        [curl("2-9.el9")]: "fixed 2-1.el9",
        [curl("1-1.el9", "&distro=rhel-9.3")]: "affected 2-1.el9",
        [curl("1-1.el8", "&distro=rhel-8.3")]: "nothing",
        "pkg:rpm/redhat/libcurl@1-1.el9?upstream=curl-1-1.el9.src.rpm": "affected 2-1.el9",
      },
    ],
    [
      "affected in all versions, with a fix for another platform",
      { known_affected: ["linux8 pkg:rpm/redhat/curl"], fixed: [`linux9 ${curl("2-1.el9")}`] },
      {
        [curl("2-1.el9", "&distro=rhel-9")]: "fixed",
        [curl("1-1.el9", "&distro=rhel-9")]: "affected 2-1.el9 uncertain",
        [curl("7-1.el8", "&distro=rhel-8.9")]: "affected",
      },
    ],
    [
      "affected in all versions of one architecture",
      { known_affected: ["linux9 pkg:rpm/redhat/curl?arch=s390x"], fixed: [`linux9 ${curl("2-1.el9")}`] },
      { "pkg:rpm/redhat/curl@2-1.el9?arch=s390x": "affected", [curl("2-1.el9")]: "fixed" },
    ],
    [
      "fixed in versions of several platforms",
      {
        fixed: [`linux9 ${curl("4-1.el9_2")}`, `eus90 ${curl("3-1.el9_0")}`],
        known_not_affected: ["linux8 pkg:rpm/redhat/curl"],
      },
      {
        [curl("2-1.el9_0")]: "affected 4-1.el9_2 3-1.el9_0 uncertain",
        [curl("3-1.el9_0")]: "fixed",
        [curl("4-1.el9_2")]: "fixed",
        [curl("5-1.el9_4")]: "not affected",
        [curl("1-1.el8", "&distro=rhel-8.4")]: "not affected",
      },
    ],
    [
      "fixed in streams of a module",
      {
        fixed: [
          "linux8 pkg:rpmmod/redhat/pg@12:8100:ab pkg:rpm/redhat/pg@12.20-1",
          "linux8 pkg:rpmmod/redhat/pg@13:8100:cd pkg:rpm/redhat/pg@13.16-1",
        ],
      },
      {
        "pkg:rpm/redhat/pg@13.10-1": "affected 13.16-1 uncertain",
        "pkg:rpm/redhat/pg@13.10-1?rpmmod=pg:12:8090:ef": "nothing",
        "pkg:rpm/redhat/pg@12.20-1": "fixed",
        "pkg:rpm/redhat/pg@12.19-1?rpmmod=pg:12:8090:ef": "affected 12.20-1 uncertain",
      },
    ],
    [
      "of a product that is installed on a distribution",
      { known_affected: ["shift pkg:rpm/redhat/cri-o"], known_not_affected: ["shift pkg:rpm/redhat/curl"] },
      {
        "pkg:rpm/redhat/cri-o@1-1?distro=rhel-8.6": "affected",
        "pkg:rpm/redhat/cri-o@1-1?distro=rhel-9.2": "nothing",
        "pkg:rpm/redhat/curl@1-1?distro=rhel-8.6": "not affected",
      },
    ],
    [
      "a library that is safe in one product is not said to be safe elsewhere",
      {
        known_not_affected: ["box pkg:npm/lib@1"],
        known_affected: ["named pkg:npm/lib@2"],
        fixed: ["box pkg:npm/lib@3"],
      },
      {
        "pkg:npm/lib@1": "nothing",
        "pkg:npm/lib@2": "affected",
        "pkg:npm/lib@3": "nothing",
        "pkg:npm/lib@4": "nothing",
      },
    ],
    [
      "a part of an image is asked for with the image",
      {
        known_not_affected: ["named pkg:oci/app@sha256:ab pkg:npm/lib@1"],
        known_affected: ["named pkg:oci/app@sha256:cd pkg:npm/lib@1"],
      },
      {
        "pkg:oci/app@sha256:cd": "affected",
        "pkg:oci/app@sha256:ef": "nothing",
        "pkg:npm/lib@1": "nothing",
      },
    ],
  ];
  for (const [name, statuses, queries] of tables) {
    it(name, () => {
      const document = documentOf(statuses);
      for (const [query, expected] of Object.entries(queries)) assert.equal(ask(document, query), expected, query);
    });
  }

  it("a fix in a range is an exception to all versions of the platform", () => {
    const fixedIn = (range: string) => {
      const branch = { category: "product_version_range", name: range, product: product("b", "pkg:rpm/redhat/a") };
      const tree = treeOf(["linux9 pkg:rpm/redhat/a"]);
      const references = { product_reference: "b", relates_to_product_reference: "linux9" };
      const inRange = { category: "default_component_of", full_product_name: product("r"), ...references };
      const relationships = [...tree.relationships, inRange];
      const product_status = { known_affected: ["linux9 pkg:rpm/redhat/a"], fixed: ["r"] };
      const document = csaf([{ cve: "CVE-2030-1", product_status }], { ...tree, branches: [branch], relationships });
      return ["1-1", "2-1", "3-1"].map((version) => ask(document, `pkg:rpm/redhat/a@${version}`));
    };
    assert.deepEqual(fixedIn("vers:rpm/>=2-0"), ["affected 2-0", "fixed 2-0", "fixed 2-0"]);
    assert.deepEqual(fixedIn("vers:rpm/>=2-0|<3-0"), ["affected", "fixed", "affected"]);
  });

  it("a range decides only about the versions in it", () => {
    const branch = (name: string, id: string) => ({
      category: "product_version_range",
      name,
      product: product(id, "pkg:npm/lib"),
    });
    const tree = {
      branches: [
        {
          category: "product_name",
          name: "lib",
          branches: [branch("vers:npm/>=2|<3", "a"), branch("vers:npm/<1", "n")],
        },
      ],
    };
    const document = csaf(
      [{ cve: "CVE-2030-1", product_status: { known_affected: ["a"], known_not_affected: ["n"] } }],
      tree,
    );
    const answers = ["0.5.0", "1.5.0", "2.5.0", "3.0.0"].map((version) => ask(document, `pkg:npm/lib@${version}`));
    assert.deepEqual(answers, ["not affected", "nothing", "affected", "nothing"]);
  });
});
