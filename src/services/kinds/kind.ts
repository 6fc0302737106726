// The declaration of a kind of resource. What works with all kinds reads it, and names none of them.
import type { DescMessage, DescMethodUnary, DescService, JsonObject } from "@bufbuild/protobuf";
import type { FieldViolation } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import type { MethodEvent } from "../../resource/method-event.ts";
import type { RowView } from "../../resource/row-view.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import type { GroupRow } from "../../storage/iam/rows.ts";
import { type Derived, derive, deriveMethods, type Methods } from "./derived.ts";
import type { Transfer } from "./import-kind.ts";
import type { KindContext, KindOptions } from "./kind-options.ts";
import type { Names, Target } from "./names.ts";
import type { AnySpec, KindName, SpecOf, Uids } from "./spec.ts";

/** A resource with its names among those of its kind. */
export interface Named {
  readonly resource: AnySpec;
  /** The path of its group. */
  readonly group: string;
  /** The text for people. */
  readonly name: string;
  /** Identifies the resource: its stored and its wanted form have the same key. */
  readonly key: string;
}

/** A resource of a request. */
export interface Wanted extends Named {
  /** The place in the request. */
  readonly index: number;
  /** The key by which other resources refer to it; undefined for kinds that nothing refers to. */
  readonly target: Target | undefined;
}

/** A stored resource, as a file has it. */
export interface StoredResource {
  readonly uid: string;
  /** Why no file has it, and pruning keeps it; empty if files have it. */
  readonly outside: string;
  readonly resource: AnySpec;
}

/** A stored resource with its name. */
export interface StoredNamed extends Named {
  readonly stored: StoredResource;
}

/** The resources that a pruning apply would delete, with all that the group has. */
export interface Surplus {
  readonly wanted: readonly Wanted[];
  readonly stored: readonly StoredNamed[];
  readonly surplus: readonly StoredNamed[];
  readonly names: Names;
  readonly callerUid: string;
}

/** A resource that is created or updated, with the fields that differ from the stored one. */
export interface ChangedSpec<V> {
  readonly value: V;
  readonly fields: readonly string[];
}

/** A part of resources that another method sets than the one that creates them. It stays as it is if a file does not have it. */
export interface SeparatePart<V> {
  /** The field of the file, which is a message: its presence says whether a file has the part. */
  readonly field: string;
  readonly method: DescMethodUnary;
  /** Returns the service of the method, which needs no other methods. */
  implement(context: ServiceContext): Implementation;
  /** Returns the request that sets the part as the file has it. */
  request(value: V, uid: string): object;
  /** Fields whose change can change the part, which is then set after them. */
  readonly affectedBy: readonly string[];
}

/** The form of a kind's resources in a file. `V` is the message in the file, `R` the stored row. */
export interface FileForm<V, R extends ResourceRow> {
  /** The kinds that its resources refer to, besides groups. */
  readonly references: readonly KindName[];
  /** Other kinds whose resources decide which of this kind a pruning apply keeps; none if absent. */
  readonly keptBy?: readonly KindName[];
  /** Whether resources refer to those of this kind by the paths of their names; false if absent. */
  readonly isTarget?: boolean;
  /** The path of the group of a resource; its field `group` if absent. */
  groupOf?(value: V): string;
  /** Names a resource: `key` is the same for the same resource, and `name` if absent. The path of its name if absent. */
  nameOf?(value: V, names: Names, group: string): { readonly name: string; readonly key?: string };
  /** Returns the references to what does not exist, by their fields; none if absent. */
  missing?(value: V, names: Names, group: string): readonly FieldViolation[];
  /** Checks what the request that creates it cannot express; nothing if absent. */
  check?(value: V): readonly FieldViolation[];
  /** Returns why no file has a stored row, and pruning keeps it; empty for a row that files have. Files have all rows if absent. */
  outside?(row: R): string;
  /** Converts a stored row. */
  toSpec(row: R, names: Names): V;
  /** The part that another method sets; none if absent. */
  readonly part?: SeparatePart<V>;
  /** Converts a resource for the request that creates or updates it. `hasSecret` is whether that sets the secret. */
  toMessage(value: V, uids: Uids, hasSecret: boolean): object;
  /** Returns the uid of its parent; that of its group if absent. */
  parentOf?(value: V, uids: Uids): string;
  /** Fields that name the resource or what it refers to: equal for equal keys, although references can be written in several ways. */
  readonly namingFields?: readonly string[];
  /** The paths of update masks that are not the names of fields of the file. */
  readonly maskPaths?: Readonly<Record<string, string>>;
  /** Fields in the errors of its methods that the file has under another name. */
  readonly errorFields?: Readonly<Record<string, string>>;
  /** Returns the fields that are compared, from the JSON of the message; all if absent. */
  comparable?(json: JsonObject, value: V): JsonObject;
  /** Returns whether it needs nothing of others that are created at the same time, and locks nothing of its group; never if absent. */
  createsAlongside?(value: V): boolean;
  /** Whether deletions of the kind need nothing of each other; false if absent. */
  readonly isDeletedAlongside?: boolean;
  /** Whether a resource has the uid of its group, whose own one is then read, too; false if absent. */
  readonly hasUidOfGroup?: boolean;
  /** The kind whose deletion deletes these, too. */
  readonly deletedWith?: KindName;
  /** The kind behind which these are deleted with a group; the reverse order of creation if absent. */
  readonly deletedAfter?: KindName;
  /** The secret in a file, which nobody can read back: it is set with the creation, with another `boundTo`, and if the request says so. */
  readonly secret?: { readonly field: string; readonly boundTo: string; of(value: V): string };
  /** Returns what is wanted without what the caller may not set, which is ignored; all if absent. */
  withoutIgnored?(wanted: V, stored: V, uid: string, call: Call): V;
  /** Returns whether the creation of the organization makes it, as the owner binding of its creator; never if absent. */
  comesWithOrganization?(value: V, names: Names, callerUid: string): boolean;
  /** Returns whether the deletion of the organization deletes it, which it needs until then; never if absent. */
  goesWithOrganization?(row: R, organization: GroupRow, callerUid: string): boolean;
  /** Prepares the options of the service before the transaction, which must not wait for other servers; as they are if absent. */
  prepare?(changes: readonly ChangedSpec<V>[], options: KindOptions): Promise<KindOptions>;
  /** Returns the function that says why a surplus resource is kept; empty if it is deleted. */
  keptReasons?(all: Surplus): (each: StoredNamed) => string;
}

/** The reason for which a kind does not take part in something. */
export interface Absent {
  readonly absent: string;
}

/** The recording of changes of a kind, in the audit log and as events. */
export interface Recorded {
  /** Its rows in the audit log: first its own ones, then those that belong to its resources. None if it shows no rows. */
  readonly views: readonly RowView[];
  /** Returns the events of its methods. */
  events(context: ServiceContext): readonly MethodEvent[];
}

/** The members of the declaration of every kind. */
interface Declaration<R extends ResourceRow> {
  /** The message of a resource, and the service with its standard methods. */
  readonly schema: DescMessage;
  readonly service: DescService;
  readonly collection: Collection<R>;
  /** Makes the service; absent if another kind has the same. */
  implement?(context: KindContext): Implementation;
  /** The import of its resources, or the reason why they do not move with their organization, which an export prints under "left out". */
  readonly transfer: readonly Transfer[] | Absent;
  readonly recorded: Recorded | Absent;
}

/** Declares a kind of resource. */
export interface KindDeclaration<K extends KindName, R extends ResourceRow> extends Declaration<R> {
  /** Its member in the oneof of ResourceSpec. */
  readonly name: K;
  readonly file: FileForm<SpecOf<K>, R>;
}

/** A kind of resource, completed by its protos. */
export interface Kind extends Derived, Omit<KindDeclaration<KindName, ResourceRow>, "file"> {
  readonly file: FileForm<AnySpec["value"], ResourceRow>;
}

/** Declares a kind that no file has. */
export interface OtherDeclaration<R extends ResourceRow> extends Declaration<R> {
  readonly name: string;
  readonly file: Absent;
  /** The word for several, for errors, if its resources are deleted before all others with their group; absent if nothing has to be. */
  readonly deletedWithGroup?: string;
}

/** A kind that no file has, completed by its protos. */
export interface OtherKind extends Methods, OtherDeclaration<ResourceRow> {}

/** Completes a declaration. Throws if the protos lack a standard method. */
export function defineKind<K extends KindName, R extends ResourceRow>(declaration: KindDeclaration<K, R>): Kind {
  // A form is called with the values and the rows of its own kind only, which no type of a list of kinds can say.
  return { ...(declaration as unknown as Omit<Kind, keyof Derived>), ...derive(declaration) };
}

/** Completes the declaration of a kind that no file has. */
export function defineOtherKind<R extends ResourceRow>(declaration: OtherDeclaration<R>): OtherKind {
  return { ...(declaration as unknown as OtherDeclaration<ResourceRow>), ...deriveMethods(declaration) };
}

/** Declares that a kind does not support a feature. The reason is a sentence, or the beginning of one, for people. */
export function absent(reason: string): Absent {
  return { absent: reason };
}
