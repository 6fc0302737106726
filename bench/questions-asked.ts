// The most expensive question of each service, and the advisories and images that some of them are about.
import { cycloneDx } from "../test/sboms/documents.ts";
import type { Landmarks } from "./population.ts";

/** A call; a body makes it a POST. */
export interface Question {
  readonly name: string;
  readonly path: string;
  readonly body?: string;
}

const packageUrl = "pkg:maven/org.example/library";
const packagesOfRequest = 1000;
const versionLength = 250;

/** Returns a version of many parts, each of which an order reads. */
function longVersion(i: number): string {
  return `1.${i}.${"2.".repeat(versionLength)}`.slice(0, versionLength - 1).concat("3");
}

/** Yields requests with records about one Maven package, each with many ranges and long versions. */
export function* questionRecords(): Generator<object[]> {
  for (let request = 0; request < 4; request++)
    yield Array.from({ length: 50 }, (_, i) => {
      const id = `GHSA-${request}-${i}`;
      const events = (n: number) => [
        { type: "RANGE_EVENT_TYPE_INTRODUCED", version: longVersion(10 * n) },
        { type: "RANGE_EVENT_TYPE_FIXED", version: longVersion(10 * n + 5) },
      ];
      const ranges = Array.from({ length: 20 }, (_, n) => ({ type: "ECOSYSTEM", events: events(n) }));
      const product = { purl: packageUrl, ecosystem: "Maven", name: "org.example:library" };
      const statements = [{ product, status: "PRODUCT_STATUS_AFFECTED", ranges }];
      return { source: "osv", document: id, vulnerability: id, format: "RECORD_FORMAT_OSV", statements };
    });
}

/** An image by its tag, and its SBOM in base64. */
interface ImageDocument {
  readonly tag: { readonly name: string; readonly digest: string };
  readonly content: string;
}

/** The images of a repo, each with the same packages, of which some have advisories. */
const images = 50;
const packagesOfImage = 5000;
const packagesWithAdvisories = 2000;

/** Yields requests with records about packages of the images. */
export function* imageRecords(): Generator<object[]> {
  const atOnce = 500;
  for (let first = 0; first < packagesWithAdvisories; first += atOnce)
    yield Array.from({ length: atOnce }, (_, i) => {
      const [id, name] = [`GHSA-image-${first + i}`, `package-${first + i}`];
      const product = { purl: `pkg:npm/${name}`, ecosystem: "npm", name };
      const events = [
        { type: "RANGE_EVENT_TYPE_INTRODUCED", version: "0" },
        { type: "RANGE_EVENT_TYPE_FIXED", version: "2.0.0" },
      ];
      const statements = [{ product, status: "PRODUCT_STATUS_AFFECTED", ranges: [{ type: "SEMVER", events }] }];
      return { source: "osv", document: id, vulnerability: id, format: "RECORD_FORMAT_OSV", statements };
    });
}

/** Yields a tag and an SBOM for each image. */
export function* imageDocuments(): Generator<ImageDocument, undefined> {
  const purls = Array.from({ length: packagesOfImage }, (_, i) => `pkg:npm/package-${i}@1.0.0`);
  const content = Buffer.from(JSON.stringify(cycloneDx(purls))).toString("base64");
  for (let i = 0; i < images; i++)
    yield { tag: { name: `v${i}`, digest: `sha256:${i.toString(16).padStart(64, "0")}` }, content };
}

/** Returns the questions about the images of a repo. */
export function imageQuestions(repoUid: string, groupUid: string): Question[] {
  const of = (rest: string) => `/gatehouse/registry/v1/images/${repoUid}:${rest}`;
  const { tag } = imageDocuments().next().value!;
  const parent = encodeURIComponent(groupUid);
  return [
    { name: "findings of an image", path: of(`listFindings?digest=${tag.digest}&page_size=200`) },
    { name: "packages of an image", path: of(`listPackages?digest=${tag.digest}&page_size=200`) },
    { name: "uses of images", path: of("listUses?page_size=200") },
    {
      name: "affected images",
      path: `/gatehouse/registry/v1/affectedImages?parent=${parent}&vulnerability=GHSA-image-1&page_size=200`,
    },
    {
      name: "unused images",
      path: `/gatehouse/registry/v1/unusedImages?parent=${parent}&unused_days=30&accept_incomplete=true&page_size=200`,
    },
  ];
}

/** Returns the questions about anything else, those of published methods last. */
export function expensiveQuestions({ groupUid, ownerUid, teamUid }: Landmarks): Question[] {
  const post = (name: string, path: string, body: object): Question => ({ name, path, body: JSON.stringify(body) });
  const get = (name: string, path: string): Question => ({ name, path });
  const versions = Array.from({ length: packagesOfRequest }, (_, i) => longVersion(i));
  const osv = versions.map((version) => ({ version, package: { ecosystem: "Maven", name: "org.example:library" } }));
  const own = versions.map((version) => ({ version, purl: packageUrl }));
  const deletion = { deleteRoleBinding: { uid: `${groupUid}/0123456789abcdef` } };
  const group = encodeURIComponent(groupUid);
  return [
    post("OSV batch", "/gatehouse/osv/v1/querybatch", { queries: osv }),
    post("batch of package queries", "/gatehouse/vulnerabilities/v1/affected:batchQuery", { queries: own }),
    get("export of advisories", `/gatehouse/vulnerabilities/v1/exports/${group}/csaf.json`),
    post("counts of advisories", "/gatehouse/vulnerabilities/v1/advisories:count", { list: {} }),
    get("changes of advisories", `/gatehouse/vulnerabilities/v1/advisories:changedSince?uidp.descendants_of=${group}`),
    get("who can", `/access/v1/groups/${groupUid}:whoCan?page_size=200&show_confined=true`),
    get("people", `/access/v1/groups/${groupUid}:people?page_size=200&query=a`),
    get("what can", `/access/v1/whatCan?identity=${encodeURIComponent(ownerUid)}&page_size=200`),
    post("simulation", "/access/v1/simulate", deletion),
    get("findings", `/gatehouse/organizations/v1/findings?parent=${group}&page_size=200`),
    get("unused access", `/access/v1/groups/${groupUid}:unusedAccess?page_size=200`),
    get("access requests", "/access/v1/requests:mine"),
    get("requestable roles", "/access/v1/requests:requestable"),
    get("search", `/gatehouse/search/v1/resources:search?parent=${group}&query=a&page_size=50`),
    get("search of identities", `/gatehouse/iam/v1/identities:search?parent=${group}&query=zz&page_size=200`),
    get("audit log", `/gatehouse/changes/v1/changes?parent=${group}&actor_uid=${ownerUid.split("/")[0]}&page_size=200`),
    get("export of resources", `/gatehouse/apply/v1/groups/${teamUid}:exportResources`),
    post("plan", "/gatehouse/apply/v1/resources:apply", plan(teamUid)),
    get("delegations", `/gatehouse/iam/v1/delegations?parent=${group}&page_size=200`),
    get("list of version 1", `/iam/v1/rolebindings?uidp.descendants_of=${encodeURIComponent(teamUid)}`),
    get(
      "list of advisories",
      `/vulnerabilities/v2beta1/advisories?uidp.descendants_of=${group}&query=abc&page_size=200`,
    ),
    get(
      "list of identities",
      `/iam/v2beta1/identities?uidp.descendants_of=${group}&page_size=200&skip=9000&order_by=name`,
    ),
  ];
}

/** Many groups that do not exist. */
function plan(groupUid: string): object {
  const resources = Array.from({ length: 9000 }, (_, i) => ({ group: { name: `g${i}` } }));
  return { groupUid, planOnly: true, resources };
}
