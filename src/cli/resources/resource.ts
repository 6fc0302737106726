// The declaration of a kind of resource for the command line. The verbs are implemented once, in verbs.ts.
import type { DescService, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Completer } from "../client/completing.ts";
import type { Session } from "../client/session.ts";
import type { Column, View } from "../output/view.ts";

/** The verbs of a kind. */
export type Verb = "list" | "describe" | "create" | "update" | "delete";

/** A flag value as commander parses it. */
export type FlagValue = string | boolean | readonly string[];

/** A flag, and the field of the resource or the list request that it sets. */
export interface Flag {
  /** In commander's notation: `-d, --description <text>`. */
  readonly flags: string;
  readonly description: string;
  /** The JSON path of the field: `description`, `uidp.childrenOf`. */
  readonly field: string;
  /** Converts the value to the field's JSON. Without it, the value is used unchanged. `target` is the JSON so far. */
  readonly read?: (
    value: FlagValue,
    session: Session,
    target: JsonObject,
    options: Options,
  ) => JsonValue | Promise<JsonValue>;
  /** The value is a name or uid of this kind. Replaces `read`, unless there is one. */
  readonly refersTo?: () => Resource;
  /** The completer, if the value is not a resource. */
  readonly completer?: Completer;
  /** Whether `create` requires it. */
  readonly required?: boolean;
  /** Set if only one of the verbs has the flag. */
  readonly only?: "create" | "update";
  /** The allowed values, in any case and with - for _; the first spelling is shown. Absent means any value. */
  readonly choices?: readonly string[];
  /** Commander's names of flags that exclude it. */
  readonly conflicts?: readonly string[];
  /** The value that `create` uses without the flag. */
  readonly fallback?: string;
}

/** The flag of `create` for the parent, if that is not a group. */
export interface ParentFlag extends Pick<Flag, "flags" | "description"> {
  readonly resource: () => Resource;
}

/** The flags of a command by commander's names. */
export type Options = Readonly<Record<string, FlagValue>>;

/** Reports whether people tell resources of a kind apart by names, which the API allows to be equal. */
export function hasSiblingNames({ argument, uidOf }: Resource): boolean {
  return argument?.field === "name" && uidOf === undefined;
}

/** Reports whether a path of groups and its own name identifies a resource: `example.org/engineering/release`. */
export function hasPath({ nests, parent, name, uidOf }: Resource): boolean {
  return (nests === true || parent === "group") && name === undefined && uidOf === undefined;
}

/** A kind of resource. */
export interface Resource {
  /** The words of its commands: `iam role-bindings`. */
  readonly path: string;
  readonly noun: string;
  /** The name of its message: `RoleBinding`. */
  readonly type: string;
  readonly service: () => Promise<DescService>;
  readonly verbs: readonly Verb[];
  readonly view: View;
  /**
   * The member that serves as name, and the list filter that finds it; both `name` by default. If the typed text
   * matches no member, the filter for aliases is tried.
   */
  readonly name?: {
    readonly member: string;
    readonly filter: string;
    readonly aliases?: string;
    /** Further fields of the List request that it needs to return all resources. */
    readonly request?: JsonObject;
  };
  /** Returns the names that every server has. */
  readonly builtIn?: () => Promise<readonly string[]>;
  /** Whether resources of this kind nest, so a path of names identifies one. */
  readonly nests?: boolean;
  /** The argument of `create`, and the field that it sets. */
  readonly argument?: { readonly name: string; readonly field: string };
  /** Whether `create` requires a group as the parent, none, or another parent by a flag. */
  readonly parent: "group" | "none" | ParentFlag;
  readonly fields: readonly Flag[];
  readonly filters?: readonly Flag[];
  /** Added to every list request. */
  readonly always?: JsonObject;
  /** Selects the results that are of this kind, by uid, where the request cannot. */
  readonly keep?: (row: JsonObject) => boolean;
  /** The hint for a uid of another kind. */
  readonly uidHint?: string;
  /** The kind of its parent, if that is not a group, and how to find the parents of listed resources. */
  readonly holder?: {
    readonly noun: string;
    /** `HOLDER:NAME` names a resource of a holder. */
    readonly resource: () => Resource;
    readonly find: (request: JsonObject, session: Session) => Promise<readonly JsonObject[]>;
  };
  /** The columns of a list that depend on the request. */
  readonly columnsFor?: (request: JsonObject, session: Session) => Promise<readonly Column[]>;
  /** Further columns that depend on the server, in wide lists only. */
  readonly serverColumns?: (session: Session) => Promise<readonly Column[]>;
  /** The kind that shares its uid, and whose names it accepts: an account association has the uid of its group. */
  readonly uidOf?: Resource;
  /** Changes the body after the flags were applied, for fields that single flags cannot express. */
  readonly complete?: (body: JsonObject, options: Options, session: Session) => Promise<JsonObject>;
  /** Flags that `complete` reads. */
  readonly completing?: readonly Pick<
    Flag,
    "flags" | "description" | "only" | "choices" | "conflicts" | "refersTo" | "completer"
  >[];
  /** Fails, naming the flags, if a complete body lacks values that only flags can set. Runs before the user is asked anything. */
  readonly checkCreate?: (body: JsonObject) => void;
  /** Checks flags before anything is created. The returned function runs afterwards. */
  readonly prepareCreate?: (options: Options, session: Session) => Promise<(created: JsonObject) => Promise<void>>;
  /** Makes a change by another method if flags ask for it. */
  readonly instead?: {
    /** Returns the uid of the new resource; undefined to create it as usual. */
    readonly create: (
      session: Session,
      created: { readonly parent: string; readonly body: JsonObject; readonly options: Options },
    ) => Promise<{ readonly uid: JsonValue } | undefined>;
    /** Returns whether it made the change. */
    readonly update: (session: Session, uid: string, options: Options) => Promise<boolean>;
  };
  /** The list request of an export, and the conversion for an import; as listed if absent. */
  readonly exported?: {
    readonly request?: JsonObject;
    /** Returns undefined for a resource that stays behind. */
    readonly toImported?: (row: JsonObject) => JsonObject | undefined | Promise<JsonObject | undefined>;
  };
}
