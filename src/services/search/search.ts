// Finds resources and people by words of their names, or by their uid (docs/design/names.md).
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ResourceKind,
  type SearchRequest,
  SearchRequestSchema,
  type SearchResponseSchema,
  SearchService,
} from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { isUid, rootOf } from "../../model/uid.ts";
import { callerOf, subtreesWithin } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { plainTextRule, type TextRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { isWordIndexFilled } from "../../storage/names/word-index.ts";
import { findAdvisories, findPackages } from "./find-advisories.ts";
import { findByBeginning, findByWords, shown } from "./find-named.ts";
import { findPeopleByWords, findPersonByUid, searchedPeople } from "./find-people.ts";
import { exactFirst, type Found, type FoundRows, firstOf, together } from "./found.ts";
import { newNameReader } from "./name-reader.ts";
import { type NamedKind, namedAdvisories, namedKinds, namedSubscriptions, namedTags } from "./named-kinds.ts";
import { newPeopleLimit } from "./people-limit.ts";
import { isSearched, type Query, readRequest } from "./query.ts";
import { resolveNames, resolveRules } from "./resolve-names.ts";
import type { PeopleScope } from "./visible-people.ts";

/** How long a query may be: longer than any name that is worth typing, and as long as a deep uid. */
const queryRule: TextRule = { ...plainTextRule, maxLength: 1024 };

/** The kinds that are found in another way than by the beginning of the name or by its words. */
const otherWays = new Map<NamedKind, (query: Query, kind: NamedKind) => Promise<FoundRows>>([
  [namedTags, (query, kind) => findByBeginning(query, kind)],
  [namedSubscriptions, findByWords],
  [namedAdvisories, findAdvisories],
]);

/** Serves the search. */
export function search({ database, clock }: Pick<ServiceContext, "database" | "clock">): Implementation {
  const countPeopleSearch = newPeopleLimit(clock);

  async function find(request: SearchRequest, call: Call): Promise<MessageInitShape<typeof SearchResponseSchema>> {
    const asked = readRequest(request);
    return await database.read(async (session) => {
      const query: Query = { ...asked, session, call, reader: await newNameReader(session, call) };
      const isWanted = (kind: ResourceKind) => request.kinds.length === 0 || request.kinds.includes(kind);
      const people = isWanted(ResourceKind.PERSON) ? searchedPeople(query) : undefined;
      if (people) countPeopleSearch(callerOf(call).uid, rootOf(query.parent));
      const { found, truncated } = await (isUid(query.text) ? findByUid : findByName)(query, isWanted, people);
      const { pathOf } = await query.reader.read(
        [],
        found.map(({ uid }) => uid),
      );
      return { resources: found.map((one) => ({ ...one, path: pathOf(one.uid) })), truncated };
    });
  }

  return implement(SearchService, { search: expensive(find), resolveNames: expensive(resolveNames({ database })) }, [
    { schema: SearchRequestSchema, fields: { query: queryRule } },
    resolveRules,
  ]);
}

type IsWanted = (kind: ResourceKind) => boolean;

async function findByUid(query: Query, isWanted: IsWanted, people: PeopleScope | undefined): Promise<FoundRows> {
  const { text: uid, call, parent, session } = query;
  const found: Found[] = [];
  for (const kind of namedKinds.filter((one) => isWanted(one.kind))) {
    const isBuiltIn = kind.hasBuiltIn && !uid.includes("/") && subtreesWithin(call, kind.capability, parent).length > 0;
    if (!isBuiltIn && !isSearched(query, kind, uid)) continue;
    const row = await findRow(session, kind.collection, uid);
    if (row) found.push(shown(kind, row));
  }
  if (people && !uid.includes("/")) found.push(...(await findPersonByUid(query, people)));
  return { found, truncated: false };
}

async function findByName(query: Query, isWanted: IsWanted, people: PeopleScope | undefined): Promise<FoundRows> {
  const parts: FoundRows[] = [];
  for (const kind of namedKinds.filter((one) => isWanted(one.kind)))
    parts.push(firstOf(await findOfKind(query, kind), query.limit));
  if (people) parts.push(await findPeopleByWords(query, people));
  if (isWanted(ResourceKind.PACKAGE)) parts.push(firstOf(await findPackages(query), query.limit));
  const found = parts.flatMap((part) => part.found);
  // Until all names are indexed, some are missing.
  const truncated = parts.some((part) => part.truncated) || !(await isWordIndexFilled(query.session));
  return { found: exactFirst(found, query.text), truncated };
}

async function findOfKind(query: Query, kind: NamedKind): Promise<FoundRows> {
  const other = otherWays.get(kind);
  if (other) return await other(query, kind);
  return together(await findByBeginning(query, kind), await findByWords(query, kind));
}
