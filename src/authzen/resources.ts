// Lists the resources of a type in some subtrees, page by page, by the lists of the API.
import { hash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UIDPFilterSchema } from "../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { ReposService } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { invalidField } from "../aip/errors.ts";
import { formatPageToken, isExpired, parsePageToken } from "../aip/page-token.ts";
import type { Asker } from "./asker.ts";
import type { ResourceType } from "./entities.ts";
import type { PageRequest } from "./page.ts";

/** A request for a page of a list. */
interface ListRequest {
  readonly uidp: MessageInitShape<typeof UIDPFilterSchema>;
  readonly pageSize: number;
  readonly pageToken: string;
}

/** A page of a list. */
interface ListedPage {
  readonly uids: readonly string[];
  /** The token of the following page; empty on the last. */
  readonly next: string;
}

const lists: Readonly<Record<ResourceType, (asker: Asker, request: ListRequest) => Promise<ListedPage>>> = {
  group: async ({ invoke }, request) => {
    const { groups, nextPageToken } = await invoke(GroupsService.method.listGroups, request);
    return toPage(groups, nextPageToken);
  },
  repo: async ({ invoke }, request) => {
    const { repos, nextPageToken } = await invoke(ReposService.method.listRepos, request);
    return toPage(repos, nextPageToken);
  },
  identity: async ({ invoke }, request) => {
    const { identities, nextPageToken } = await invoke(IdentitiesService.method.listIdentities, request);
    return toPage(identities, nextPageToken);
  },
  role: async ({ invoke }, request) => {
    const { roles, nextPageToken } = await invoke(RolesService.method.listRoles, request);
    return toPage(roles, nextPageToken);
  },
};

function toPage(resources: readonly { readonly uid: string }[], next: string): ListedPage {
  return { uids: resources.map(({ uid }) => uid), next };
}

/** The most calls of lists for one page. Later places are on the next page. */
const maxCalls = 50;

/** Where a page begins: in the list of a place, by its token. */
interface Position {
  /** Empty for the list of the places themselves. */
  readonly place: string;
  readonly inner: string;
}

/**
 * Returns a page of the resources of a type at these places, one at least, and below them. `query` is what else the search depends on; a token of another
 * query is rejected.
 */
export async function listResources(
  asker: Asker,
  type: ResourceType,
  places: readonly string[],
  query: readonly string[],
  { limit, token }: PageRequest,
): Promise<ListedPage> {
  const digest = hash("sha256", JSON.stringify([asker.uid, type, ...query]), "base64url").slice(0, 22);
  const start = readPosition(asker, token, digest);
  const uids: string[] = [];
  let calls = 0;
  for (const place of ["", ...places].filter((each) => each >= start.place)) {
    let inner = place === start.place ? start.inner : "";
    do {
      if (uids.length === limit || calls++ === maxCalls)
        return { uids, next: formatPosition(asker, { place, inner }, digest) };
      const uidp = place === "" ? { ids: [...places] } : { descendantsOf: place };
      const page = await lists[type](asker, { uidp, pageSize: limit - uids.length, pageToken: inner });
      uids.push(...page.uids);
      inner = page.next;
    } while (inner !== "");
  }
  return { uids, next: "" };
}

function readPosition({ pageTokenKey, clock }: Asker, text: string, query: string): Position {
  if (text === "") return { place: "", inner: "" };
  const token = parsePageToken(pageTokenKey, text);
  if (!token || token.query !== query)
    throw invalidField("page.token", "was made for another search, or by another server");
  if (isExpired(token, clock())) return { place: "", inner: "" };
  return { place: token.uid, inner: String(token.value) };
}

function formatPosition({ pageTokenKey, clock }: Asker, { place, inner }: Position, query: string): string {
  return formatPageToken(pageTokenKey, { issuedAt: clock(), query, order: "", value: inner, uid: place });
}
