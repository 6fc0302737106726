// What the commands of one kind of resource are declared with. The commands themselves are written once, in verbs.ts.
import type { DescService, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Completer } from "../client/completing.ts";
import type { Session } from "../client/session.ts";
import type { Column, View } from "../output/view.ts";

/** What can be done with resources of a kind. */
export type Verb = "list" | "describe" | "create" | "update" | "delete";

/** What commander makes of one flag. */
export type FlagValue = string | boolean | readonly string[];

/** One flag, and the field of the resource or of the list request that it sets. */
export interface Flag {
  /** As commander reads it: `-d, --description <text>`. */
  readonly flags: string;
  readonly description: string;
  /** Path of the field in the JSON of the contract: `description`, `uidp.childrenOf`. */
  readonly field: string;
  /** Turns what was typed into the field's JSON; as typed when absent. `target` is what was read so far. */
  readonly read?: (value: FlagValue, session: Session, target: JsonObject) => JsonValue | Promise<JsonValue>;
  /** Its value is a name or uid of this kind. Stands in for `read`, unless there is one. */
  readonly refersTo?: () => Resource;
  /** What completion offers, where it is no name of a resource. */
  readonly completer?: Completer;
  /** Whether `create` needs it. */
  readonly required?: boolean;
  /** For one of the verbs only. */
  readonly only?: "create" | "update";
  /** What it can be, in any case, with - for _; the first spelling is shown. Anything when absent. */
  readonly choices?: readonly string[];
  /** Commander's names of the flags that exclude it. */
  readonly conflicts?: readonly string[];
  /** What `create` takes when the flag is not there. */
  readonly fallback?: string;
}

/** The flag of `create` that names what a resource lies in, when that is no group. */
export interface ParentFlag extends Pick<Flag, "flags" | "description"> {
  readonly resource: () => Resource;
}

/** The flags of a command, by commander's names for them. */
export type Options = Readonly<Record<string, FlagValue>>;

/** A kind of resource. */
export interface Resource {
  /** The words that lead to its commands: `iam role-bindings`. */
  readonly path: string;
  readonly noun: string;
  /** The name of its message: `RoleBinding`. */
  readonly type: string;
  readonly service: () => Promise<DescService>;
  readonly verbs: readonly Verb[];
  readonly view: View;
  /**
   * The member that people call it by, and the filter of the list request that finds it; both `name` when absent. Where no
   * member is as it was typed, what the filter for aliases finds.
   */
  readonly name?: {
    readonly member: string;
    readonly filter: string;
    readonly aliases?: string;
    /** What the list request needs to find every one. */
    readonly request?: JsonObject;
  };
  /** Whether one lies in another, so that a path of names stands for it. */
  readonly nests?: boolean;
  /** The argument of `create`, and the field that it sets. */
  readonly argument?: { readonly name: string; readonly field: string };
  /** Whether `create` wants a group to create it in, or names something else with a flag. */
  readonly parent: "group" | "none" | ParentFlag;
  readonly fields: readonly Flag[];
  readonly filters?: readonly Flag[];
  /** What every list request has. */
  readonly always?: JsonObject;
  /** The results of a list that are of this kind, where the request cannot say so; told by their uids. */
  readonly keep?: (row: JsonObject) => boolean;
  /** Where to look, for whoever gave the uid of something that is not kept. */
  readonly uidHint?: string;
  /** What it lies in below a group, when that is no group, and how those are found that hold what a list has. */
  readonly holder?: {
    readonly noun: string;
    /** `HOLDER:NAME` stands for one of those of a holder. */
    readonly resource: () => Resource;
    readonly find: (request: JsonObject, session: Session) => Promise<readonly JsonObject[]>;
  };
  /** The columns of a list, where they depend on what was asked for. */
  readonly columnsFor?: (request: JsonObject, session: Session) => Promise<readonly Column[]>;
  /** Further columns, where their texts depend on the server; lists have them in the wide format only. */
  readonly serverColumns?: (session: Session) => Promise<readonly Column[]>;
  /** What has the same uid, and whose name stands for it as well: an account association has the uid of its group. */
  readonly uidOf?: Resource;
  /** Changes the body after the flags were read into it, for what flags cannot say one by one. */
  readonly complete?: (body: JsonObject, options: Options, session: Session) => Promise<JsonObject>;
  /** Flags that `complete` reads. */
  readonly completing?: readonly Pick<
    Flag,
    "flags" | "description" | "only" | "choices" | "conflicts" | "refersTo" | "completer"
  >[];
  /** Fails, in the words of the flags, when a complete body lacks what only they can say. Before anything is asked. */
  readonly checkCreate?: (body: JsonObject) => void;
  /** Checks what flags say before anything is created; what it answers is done once it was. */
  readonly prepareCreate?: (options: Options, session: Session) => Promise<(created: JsonObject) => Promise<void>>;
}
