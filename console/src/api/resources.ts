// The names of resources and people, and what a search for one of them finds.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useQuery as useRpcQuery, useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import {
  type FoundResource,
  type Name,
  ResourceKind,
  SearchService,
} from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { isAtOrAbove, may, useMe } from "./access.ts";
import { type NamedKind, searchKinds } from "./named-kinds.ts";
import { findByWords } from "./words.ts";

const { search, resolveNames } = SearchService.method;

/** The most uids that one call takes. */
const batchSize = 200;

/** Returns what may be known of resources and people, by uid. Empty while it is read. */
export function useResolved(uids: readonly string[]): ReadonlyMap<string, Name> {
  const wanted = [...new Set(uids)]
    .filter((uid) => uid !== "")
    .sort()
    .slice(0, batchSize);
  const { data } = useRpcQuery(
    resolveNames,
    { uids: wanted },
    { enabled: wanted.length > 0, placeholderData: (before) => before },
  );
  return new Map(data?.names.map((name) => [name.uid, name]));
}

/** Returns the names of resources and people by uid. Those that the caller may not see are missing. */
export function useNames(uids: readonly string[]): ReadonlyMap<string, string> {
  const known = [...useResolved(uids)].map(([uid, { name, email }]) => [uid, name || email] as const);
  return new Map(known.filter(([, name]) => name !== ""));
}

/** A resource or person that a field offers. */
export interface Candidate {
  readonly uid: string;
  /** Empty for a person who has not joined. */
  readonly name: string;
  /** Tells it from others of the same name: the address of a person, or the groups above a resource. */
  readonly detail: string;
}

/** The kinds that are offered before a letter is typed. Their lists have the same fields in the requests. */
const lists = {
  group: { method: GroupsService.method.listGroups, rows: "groups" },
  identity: { method: IdentitiesService.method.listIdentities, rows: "identities" },
  role: { method: RolesService.method.listRoles, rows: "roles" },
} as const;

/** How many candidates a field shows. All built-in roles are among the first roles. */
const candidateCount = 20;
const roleCount = 50;

/** The fewest letters that find people. */
export const leastLetters = 2;

/**
 * Returns what a field offers for a typed text: words of a name or an address, or a uid. Undefined while it is read. Before a letter is
 * typed, kinds that have no list here, or whose list the caller may not read, offer nothing.
 */
export function useCandidates(kind: NamedKind, within: string, typed: string): readonly Candidate[] | undefined {
  const isSearch = typed !== "";
  const first = useFirst(kind, kind === "role" ? "" : within, !isSearch);
  const request = {
    parent: within,
    query: typed,
    kinds: kindsOf(kind, typed),
    forGrant: true,
    pageSize: candidateCount,
  };
  const found = useRpcQuery(search, request, { enabled: isSearch && within !== "" });
  const described = useDescribedRoles(within, kind === "role" ? typed : "");
  if (isSearch)
    return found.isError ? [] : found.data && withoutTwice(found.data.resources.map(candidateOf), described);
  if (first.isError || !first.isEnabled) return [];
  return first.data?.map(({ uid, name }) => ({ uid, name, detail: "" }));
}

function kindsOf(kind: NamedKind, typed: string): ResourceKind[] {
  const isForPeople = typed.length >= leastLetters;
  return searchKinds[kind].filter((one) => one !== ResourceKind.PERSON || isForPeople);
}

/** How many roles are searched by their descriptions. Those of larger organizations are found by their names. */
const describedRoles = 200;

/** Returns the roles whose names or descriptions mean what was typed. */
function useDescribedRoles(within: string, typed: string): readonly Candidate[] {
  const { data: me } = useMe();
  const method = RolesService.method.listRoles;
  const { data } = useRpcQuery(
    method,
    { orderBy: "name", pageSize: describedRoles },
    { enabled: typed !== "" && may(me, method), staleTime: 60_000 },
  );
  const isHere = (uid: string) => !uid.includes("/") || isAtOrAbove(within.split("/", 1)[0] ?? "", uid);
  const roles = data?.roles.filter(({ uid }) => isHere(uid)) ?? [];
  return findByWords(typed, roles, (role) => role).map(({ uid, name, description }) => ({
    uid,
    name,
    detail: description,
  }));
}

/** Returns the candidates that the search has found, and then those that it has not. */
function withoutTwice(found: readonly Candidate[], others: readonly Candidate[]): readonly Candidate[] {
  const uids = new Set(found.map(({ uid }) => uid));
  return [...found, ...others.filter(({ uid }) => !uids.has(uid))].slice(0, candidateCount);
}

function candidateOf(found: FoundResource): Candidate {
  return { uid: found.uid, name: found.name, detail: detailOf(found) };
}

/** Returns what tells a resource from others of its name. Groups that the caller may not list are "…". */
export function detailOf({ email, path }: Pick<FoundResource, "email" | "path">): string {
  return email || path.map(({ name }) => name || "…").join(" / ");
}

/** Returns the first ones by name, unless there is a text to search. */
function useFirst(kind: NamedKind, descendantsOf: string, isWanted: boolean) {
  const { data: me } = useMe();
  const transport = useTransport();
  const isListed = kind in lists;
  const { method, rows } = lists[isListed ? (kind as keyof typeof lists) : "group"];
  const isEnabled = isWanted && isListed && (me === undefined || may(me, method));
  const uidp = create(UIDPFilterSchema, descendantsOf === "" ? {} : { descendantsOf });
  const options = createQueryOptions(
    method as typeof GroupsService.method.listGroups,
    { uidp, orderBy: "name", pageSize: kind === "role" ? roleCount : candidateCount },
    { transport },
  );
  const first = useQuery({
    ...options,
    enabled: isEnabled && me !== undefined,
    select: (response) =>
      (
        response as unknown as Readonly<Record<typeof rows, readonly { readonly uid: string; readonly name: string }[]>>
      )[rows],
  });
  return { ...first, isEnabled };
}
