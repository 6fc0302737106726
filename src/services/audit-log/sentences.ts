// Says what changes are about in sentences, with the names that the reader may know (docs/design/names.md).
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SentencePartSchema, SentenceSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { NameState, ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import type { Call } from "../../pipeline/call.ts";
import {
  type PartSource,
  resourceForm,
  type SentenceForm,
  type ShownChange,
  textOf,
} from "../../resource/sentence-form.ts";
import { findDeletedRows } from "../../storage/change-log/deleted-rows.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import type { Session } from "../../storage/engine/session.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import { type FoundNames, findNames, type Name } from "../search/find-names.ts";
import { namedKinds } from "../search/named-kinds.ts";
import { rowViews } from "./row-views.ts";

type Part = MessageInitShape<typeof SentencePartSchema>;
type Sentence = MessageInitShape<typeof SentenceSchema>;

/** A change to speak of. */
export interface SpokenChange extends ShownChange {
  readonly kind: string;
  readonly groupUid: string;
}

/** The key of the sentences of a kind that this version does not know. */
export const otherKind = "other";

/** Returns the form of the sentences of a kind; undefined for one that this version does not know. */
export function formOf(kind: string): SentenceForm | undefined {
  const view = rowViews.get(kind);
  return view && (view.sentence ?? resourceForm);
}

/** The kinds that have names now, by the kind of their rows. */
const kindsByRows = new Map(namedKinds.map((kind) => [kind.collection.kind, kind]));

/** Returns the sentences about some changes of an organization, in their order. Names are read with one statement for each kind. */
export async function sentencesOf(
  session: Session,
  changes: readonly SpokenChange[],
  organization: string,
  call: Call,
): Promise<readonly Sentence[]> {
  const outlines = changes.map(outlineOf);
  const uids = new Set(outlines.flatMap(({ parts }) => Object.values(parts).flatMap(({ uid }) => uid || [])));
  const partOf = await newPartNamer(session, [...uids], organization, call);
  return outlines.map(({ key, parts }) => ({
    key,
    parts: Object.fromEntries(Object.entries(parts).map(([name, source]) => [name, partOf(source)])),
  }));
}

/** Returns the sentence about a change without the names of resources and people, which depend on the reader. */
export function namelessSentence(change: SpokenChange): Sentence {
  const { key, parts } = outlineOf(change);
  return {
    key,
    parts: Object.fromEntries(Object.entries(parts).map(([part, source]) => [part, namelessPart(source)])),
  };
}

function namelessPart({ uid = "", name = "" }: PartSource): Part {
  return uid === "" || name !== "" ? { uid, name, state: NameState.KNOWN } : { uid };
}

/** Returns the key and the sources of the parts of a sentence. */
function outlineOf(change: SpokenChange): { readonly key: string; readonly parts: Record<string, PartSource> } {
  const { kind, actorUid, resourceUid, groupUid, before, after } = change;
  const form = formOf(kind);
  const { verbs, verbOf, parts } = form ?? resourceForm;
  const shown = after ?? before ?? {};
  const verb = verbOf(change);
  const own = Object.entries(parts).map(([name, source]) => [name, source(shown, change)] as const);
  return {
    // An entry of a later version may have another verb.
    key: form && verbs.includes(verb) ? `${kind}.${verb}` : `${otherKind}.${resourceForm.verbOf(change)}`,
    parts: {
      actor: { uid: actorUid },
      // Where a kind has names, the present one counts, and only for callers who may read it.
      resource: { uid: resourceUid, name: kindsByRows.has(kind) ? "" : textOf(shown.name) },
      group: { uid: groupUid },
      ...(form ? {} : { kind: { name: kind } }),
      ...Object.fromEntries(own),
    },
  };
}

/** Reads the names of all parts, and returns the function that names one. `organization` is that of the changes. */
async function newPartNamer(
  session: Session,
  uids: readonly string[],
  organization: string,
  call: Call,
): Promise<(source: PartSource) => Part> {
  const found = await findNames(session, uids, call);
  const missing = uids.filter((uid) => !found.names.has(uid) && !isUserUid(uid));
  const deleted = await lastNamesOf(session, missing, found);
  const strangers: Part = found.mayReadPeople(organization)
    ? { kind: ResourceKind.PERSON, state: NameState.DELETED }
    : hidden;
  const names = new Map([...found.names].map(([uid, name]) => [uid, partOf(name)]));
  return ({ uid = "", name = "" }) => {
    const known = names.get(uid);
    if (known) return known;
    if (uid === "" || name !== "") return { uid, name, state: NameState.KNOWN };
    // People who left are like deleted accounts: nobody learns from the difference whether an account exists.
    return { uid, ...(isUserUid(uid) ? strangers : (deleted.get(uid) ?? hidden)) };
  };
}

function partOf({ uid, kind = 0, name = "", email = "", state = 0 }: Name): Part {
  return { uid, kind, name: name || email, state };
}

/** The part for what the caller may not read. It does not say whether it exists, or what it is. */
const hidden: Part = { state: NameState.HIDDEN };

/** Returns the last names of what was deleted, where the caller may list its kind. */
async function lastNamesOf(
  session: Session,
  uids: readonly string[],
  { mayRead }: Pick<FoundNames, "mayRead">,
): Promise<ReadonlyMap<string, Part>> {
  const readable = uids.filter((uid) => namedKinds.some((kind) => mayRead(kind, uid)));
  const rows = await findDeletedRows(session, [...kindsByRows.keys()], readable);
  return new Map(
    rows.flatMap(({ kind: rowKind, uid, before }) => {
      const named = kindsByRows.get(rowKind)!;
      const { kind } = named;
      return mayRead(named, uid)
        ? [[uid, { kind, name: named.nameOf(before as ResourceRow), state: NameState.DELETED }]]
        : [];
    }),
  );
}
