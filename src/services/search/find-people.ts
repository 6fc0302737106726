// Finds the people of an organization whom the caller may see, by words of their names and addresses.
import { ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { rootOf } from "../../model/uid.ts";
import { callerOf } from "../../pipeline/authorize.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { findCandidates } from "../../storage/names/word-search.ts";
import { haveWords, personWordsOf } from "../../storage/names/words.ts";
import { personWords } from "../../storage/schema/person-words.ts";
import { compareNames, exactFirst, type Found, type FoundRows, firstOf, readAtMost } from "./found.ts";
import type { Query } from "./query.ts";
import { findVisiblePeople, type PeopleScope, peopleScope } from "./visible-people.ts";

/** A shorter text finds nobody: it would list the people of an organization letter by letter. */
const minLength = 2;

/** How many people a search returns at most. */
const maxPeople = 20;

/** Returns where a search looks for people; undefined if it looks for none. */
export function searchedPeople({ call, reader, parent, text, forGrant }: Query): PeopleScope | undefined {
  if ([...text].length < minLength) return undefined;
  const scope = peopleScope(call, reader.joined, forGrant, rootOf(parent));
  return scope.whole.size > 0 || scope.places.length > 0 ? scope : undefined;
}

/** Returns the people whose names and addresses have all words of the query. */
export async function findPeopleByWords(query: Query, scope: PeopleScope): Promise<FoundRows> {
  const { session, words, parent, call } = query;
  if (words.length === 0) return { found: [], truncated: false };
  const { uids, isCut } = await findCandidates(session, { root: rootOf(parent), kind: personWords, words });
  const read = uids.slice(0, scope.whole.size > 0 ? readAtMost : uids.length);
  const states = await findVisiblePeople(session, read, scope, call);
  const known = read.filter((uid) => states.get(uid) === "known").slice(0, readAtMost);
  const people = (await readPeople(query, known)).filter(([, found]) => haveWords(found, words));
  // Several people of one name must not look like one: a client may take an exact match for the only one.
  const found = exactFirst(people.map(([person]) => person).sort(compareNames), query.text);
  const isAll = !isCut && read.length === uids.length && known.length < readAtMost;
  return firstOf({ found, truncated: !isAll }, Math.min(query.limit, maxPeople));
}

/** Returns the person with a uid. One who has not joined is found by it, too, and has no name. */
export async function findPersonByUid(query: Query, scope: PeopleScope): Promise<readonly Found[]> {
  const uid = query.text;
  const state = (await findVisiblePeople(query.session, [uid], scope, query.call)).get(uid);
  if (state === "known") return (await readPeople(query, [uid])).map(([person]) => person);
  return state === undefined ? [] : [{ kind: ResourceKind.PERSON, uid, name: "", isYou: isSelf(query, uid) }];
}

/** Returns people with their words. */
async function readPeople(query: Query, uids: readonly string[]): Promise<(readonly [Found, string[]])[]> {
  const rows = await findRows(query.session, identityCollection, uids);
  return rows.map((row) => {
    const { uid, name, email } = row;
    return [{ kind: ResourceKind.PERSON, uid, name, email, isYou: isSelf(query, uid) }, personWordsOf(row)];
  });
}

function isSelf({ call }: Query, uid: string): boolean {
  return callerOf(call).uid === uid;
}
