// The most expensive question of each service, and the advisories that some of them are about.
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

/** Returns the questions, those of published methods last. */
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
