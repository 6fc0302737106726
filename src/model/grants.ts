// The roles of an identity.

/** A role granted at a group and its descendants. */
export interface GrantedRole {
  readonly groupUid: string;
  /** Numbers of the Capability enum. */
  readonly capabilities: readonly number[];
}

/** The grants of an identity. */
export interface IdentityGrants {
  /** When the identity was created, in milliseconds since the epoch. */
  readonly createTime: number;
  /** Its roles, with the groups where they take effect. */
  readonly roles: readonly GrantedRole[];
  /** Whether people are deactivated in an organization of the identity or of one of its roles. */
  readonly hasSuspensions: boolean;
}
