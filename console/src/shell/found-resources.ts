// Resources and people that the palette finds in an organization, with the views that show them.
import { useQuery } from "@connectrpc/connect-query";
import { type FoundResource, ResourceKind, SearchService } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { leastLetters } from "../api/resources.ts";
import { parentOf } from "../api/uids.ts";
import type { TextId } from "../texts/catalogues.ts";
import type { IconName } from "./icon.tsx";
import { useDelayed } from "./parts.tsx";

/** Where a resource of a kind is shown. */
export interface Shown {
  readonly to: string;
  readonly icon: IconName;
  readonly text: TextId;
  /** The rest of the address. Without it the uid is that of the selected resource. */
  readonly address?: (found: Pick<FoundResource, "uid" | "name">) => {
    readonly uid?: string;
    readonly search?: object;
  };
}

const addresses: Readonly<Record<number, Shown | undefined>> = {
  [ResourceKind.GROUP]: { to: "/o/$org/groups/$", icon: "file-directory", text: "one.groups" },
  [ResourceKind.PERSON]: { to: "/o/$org/people/$", icon: "person", text: "one.people" },
  [ResourceKind.IDENTITY]: { to: "/o/$org/workloads/$", icon: "hubot", text: "one.identities" },
  [ResourceKind.ROLE]: { to: "/o/$org/roles/$", icon: "id-badge", text: "one.roles" },
  [ResourceKind.IDENTITY_PROVIDER]: { to: "/o/$org/sign-in/$", icon: "key", text: "one.identity_providers" },
  [ResourceKind.REPO]: { to: "/o/$org/registry/$", icon: "package", text: "one.repos" },
  [ResourceKind.TAG]: {
    to: "/o/$org/registry/$",
    icon: "tag",
    text: "one.tags",
    address: ({ uid }) => ({ uid: parentOf(uid) }),
  },
  [ResourceKind.ADVISORY]: { to: "/o/$org/advisories/$", icon: "bug", text: "one.advisories" },
  [ResourceKind.PACKAGE]: {
    to: "/o/$org/advisories/$",
    icon: "package",
    text: "one.packages",
    address: ({ name }) => ({ uid: "", search: { package: name } }),
  },
  [ResourceKind.SUBSCRIPTION]: { to: "/o/$org/events/$", icon: "webhook", text: "one.subscriptions" },
};

/** Returns where a kind is shown. Undefined for kinds of a newer server. */
export function shownOf(kind: ResourceKind): Shown | undefined {
  return addresses[kind];
}

const otherKinds = (Object.keys(addresses).map(Number) as ResourceKind[]).filter(
  (kind) => kind !== ResourceKind.PERSON,
);

/** Returns the resources and people that have what is typed in their names or are that uid; none while another search is shown. */
export function useFound(org: string, typed: string) {
  const others = useSearch(org, typed, otherKinds, 120);
  // Searches for people are limited: a pause in typing begins them.
  const people = useSearch(org, typed.length < leastLetters ? "" : typed, [ResourceKind.PERSON], 300);
  return {
    found: [...people.found, ...others.found],
    // The search says so when a longer name would find others.
    isTruncated: people.isTruncated || others.isTruncated,
    isSearching: people.isSearching || others.isSearching,
  };
}

function useSearch(org: string, typed: string, kinds: ResourceKind[], pauseMs: number) {
  const query = useDelayed(typed, pauseMs);
  const { data, isFetching } = useQuery(
    SearchService.method.search,
    { parent: org, query, kinds, pageSize: 8 },
    { enabled: org !== "" && query !== "", refetchInterval: false },
  );
  const isCurrent = typed !== "" && query === typed;
  return {
    found: isCurrent ? (data?.resources ?? []) : [],
    isTruncated: isCurrent && data?.truncated === true,
    isSearching: org !== "" && typed !== "" && (!isCurrent || isFetching),
  };
}
