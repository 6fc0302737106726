/** The reasons why a component of an SBOM cannot be checked. The numbers are those of the API. */
export const UncheckedReason = { noPurl: 1, invalidPurl: 2, longPurl: 3 } as const;

/** A value of `UncheckedReason`. */
export type UncheckedReason = (typeof UncheckedReason)[keyof typeof UncheckedReason];

/** How many components of an SBOM cannot be checked for one reason. */
export interface Unchecked {
  readonly reason: UncheckedReason;
  readonly count: number;
  /** The name of the first one. */
  readonly example: string;
}

/** The content of an SBOM. */
export interface Sbom {
  /** Such as "CycloneDX 1.6". */
  readonly format: string;
  /** The program that made it, with its version; empty if the document does not say. */
  readonly tool: string;
  /** Whether it is in a signed envelope. Signatures are not verified. */
  readonly isSigned: boolean;
  /** Canonical package URLs, each once. */
  readonly purls: readonly string[];
  readonly unchecked: readonly Unchecked[];
}
