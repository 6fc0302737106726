// The interface for importing one kind of resource of an organization.
import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  ImportOutcome,
  type ImportResultSchema,
  type OrganizationResource,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { ApiError, Code, type FieldViolation, fieldViolationsOf } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import type { MessageRules } from "../../pipeline/text-rules.ts";
import type { Resource } from "../../resource/resource.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { SbomReader } from "../../sboms/reader.ts";
import type { CollectionTables, ResourceRow } from "../../storage/collection/collection.ts";
import { ReferenceViolation, UniqueViolation } from "../../storage/engine/errors.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";
import type { KindOptions } from "./kind-options.ts";

/** A reason for which a resource is rejected. */
export interface Problem extends FieldViolation {
  /** The uid of a missing resource that the field refers to. */
  readonly missingUid?: string;
}

/** The result for one resource. */
export type Result = MessageInitShape<typeof ImportResultSchema>;

/** The columns that every kind takes from the uid and the times of the message. */
export interface OwnColumns {
  readonly uid: string;
  readonly parent: string | null;
  readonly createTime: number;
  readonly updateTime: number;
}

/** Declares how a kind of resource is imported. */
export interface ImportKind<D extends DescMessage, R extends ResourceRow> {
  readonly resource: Pick<
    Resource<D, R>,
    "schema" | "collection" | "type" | "toMessage" | "messageRules" | "tracksUpdates"
  >;
  /** The collection of the parents. */
  readonly parents: CollectionTables;
  /** Returns the uid of the parent that must exist; undefined for none. */
  parentOf(uid: string): string | undefined;
  /** Returns the row to store. Columns that no message has keep the values of the stored row. */
  toRow(message: MessageShape<D>, own: OwnColumns, before: R | undefined, place: ImportPlace): R;
  /** The column with a secret, which no message of a response has. */
  readonly secret?: { readonly field: string; of(row: R): string | null };
  /** Returns the uids that the resource refers to, besides its parent. */
  references?(message: MessageShape<D>): readonly string[];
  /** Checks references, unique fields and limits against the database. */
  check?(session: Session, after: R, before: R | undefined): Promise<readonly Problem[]>;
  /**
   * Whether the insert decides nothing by rows that it does not find, beyond what unique indexes guarantee: other inserts may then
   * run at the same time in the same transaction.
   */
  isIndependent(after: R): boolean;
  /** Makes the write possible: locks, and rows that it refers to. Throws ApiError. */
  prepare?(tx: Transaction, after: R, before: R | undefined, call: Call): Promise<void>;
  /** Whether the group itself may have one, with its uid; false if absent. */
  readonly isOfGroup?: boolean;
  /** Returns whether a violation of the rules of the message does not count; never if absent. */
  isExcused?(message: MessageShape<D>, violation: FieldViolation): boolean;
  /** Removes what the row before the update needed. */
  finish?(tx: Transaction, before: R): Promise<void>;
}

/** The context of importing a resource. */
export interface ImportPlace {
  readonly call: Call;
  readonly maxDepth: number;
  /**
   * Whether a verified organization of the file becomes one here. People are led to the organization of their domain by a verified
   * name, so the operators of each installation decide it.
   */
  readonly acceptsVerified: boolean;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The transaction that writes; undefined if nothing is written. */
  readonly tx: Transaction | undefined;
  /** Whether other writes of the transaction may run at the same time; only independent inserts are then written. */
  readonly isShared: boolean;
}

/** Imports resources of one kind. */
export interface Importer<M = never> {
  readonly schema: DescMessage;
  readonly messageRules: readonly MessageRules[];
  references(message: M): readonly string[];
  readonly isOfGroup?: boolean | undefined;
  isExcused?(message: M, violation: FieldViolation): boolean;
  /** Checks what no rule of the message says, without the database. */
  check?(message: M): Promise<readonly Problem[]>;
  /** Returns undefined if the transaction must not be shared. */
  run(session: Session, message: M, place: ImportPlace): Promise<Result | undefined>;
  /**
   * Imports in transactions of its own. `run` is then called for dry runs only. For resources that take long to read or to write: no
   * transaction may wait for that.
   */
  write?(message: M, call: Call): Promise<Result>;
}

/** An import of some kind. */
export type AnyImport = Importer | ImportKind<DescMessage, ResourceRow>;

/** Dependencies of imports. */
export interface ImportContext extends ServiceContext, Pick<KindOptions, "encryption"> {
  readonly sboms: SbomReader;
}

/** Declares how the resources of an organization that have one member of OrganizationResource are imported. */
export interface Transfer {
  readonly name: NonNullable<OrganizationResource["resource"]["case"]>;
  declare(context: ImportContext): AnyImport;
}

/** Declares an import of resources that all have the same columns. */
export function importKind<D extends DescMessage, R extends ResourceRow>(kind: ImportKind<D, R>): AnyImport {
  // It is called with the messages and rows of its own kind only, which no type of a list can say.
  return kind as unknown as AnyImport;
}

/** Declares an import of its own. */
export function importBy<M>(importer: Importer<M>): AnyImport {
  return importer as unknown as AnyImport;
}

/** Returns the problem that a referenced resource is missing. */
export function missing(field: string, noun: string, uid: string): Problem {
  return { field, description: `must be the uid of ${noun} that exists: ${uid} does not`, missingUid: uid };
}

/** Returns the result of a rejected resource. */
export function rejected(problems: readonly Problem[]): Result {
  return { outcome: ImportOutcome.REJECTED, problems: [...problems] };
}

/** Returns the problems that an error of a write stands for. Throws it if it is about anything else than the resource. */
export function problemsIn(error: unknown): readonly Problem[] {
  if (error instanceof UniqueViolation)
    return [{ field: "uid", description: "another resource has the same unique fields" }];
  if (error instanceof ReferenceViolation)
    return [{ field: "uid", description: "a resource that it refers to was deleted meanwhile" }];
  if (error instanceof ApiError && aboutResource.has(error.code))
    return fieldViolationsOf(error) ?? [{ field: "uid", description: error.message }];
  throw error;
}

const aboutResource: ReadonlySet<Code> = new Set([
  Code.INVALID_ARGUMENT,
  Code.FAILED_PRECONDITION,
  Code.ALREADY_EXISTS,
  Code.NOT_FOUND,
]);
