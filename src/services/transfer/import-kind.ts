// How one kind of resource of an organization is imported.
import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ImportResultSchema } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import type { FieldViolation } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import type { MessageRules } from "../../pipeline/text-rules.ts";
import type { Resource } from "../../resource/resource.ts";
import type { CollectionTables, ResourceRow } from "../../storage/collection/collection.ts";
import type { Session, Transaction } from "../../storage/engine/session.ts";

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
  /** Removes what the row before the update needed. */
  finish?(tx: Transaction, before: R): Promise<void>;
}

/** Where a resource is imported. */
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
  /** Checks what no rule of the message says, without the database. */
  check?(message: M): Promise<readonly Problem[]>;
  /** Returns undefined if the transaction must not be shared. */
  run(session: Session, message: M, place: ImportPlace): Promise<Result | undefined>;
}

/** Returns the problem that a referenced resource is missing. */
export function missing(field: string, noun: string, uid: string): Problem {
  return { field, description: `must be the uid of ${noun} that exists: ${uid} does not`, missingUid: uid };
}
