// A model of the tokens of an issuer: they are built from parts such as the owner of a repository, and a change of a part changes each
// claim that has it.

/** The parts of a token by name, such as `owner` and `branch`. */
export type Parts = Readonly<Record<string, string>>;

/** A claim whose value has parts in braces: `repo:{owner}/{repository}`. */
export type Template = string;

/** A form of the tokens of an issuer, such as that of a job for a tag. */
export interface TokenForm {
  readonly name: string;
  /** The name of the same form with the ids in the subject. */
  readonly idForm?: string;
  readonly sub: Template;
  /** The other claims that rules name. */
  readonly claims: Readonly<Record<string, Template>>;
  /** Which people get such a token, if more than the maintainers do. */
  readonly openTo?: string;
}

/** A value of a part that more workloads have than its name says. */
export interface SharedValue {
  readonly part: string;
  readonly value: string;
  readonly what: string;
}

/** A part that says who a workload is. */
export interface NamedPart {
  readonly part: string;
  /** The words for another value of it, such as "another owner". */
  readonly what: string;
  /** Whether to let in any value is an error. To let in a similar one always is: nobody means that. */
  readonly isBoundary: boolean;
  /** The ids that differ with it. */
  readonly ids?: readonly string[];
  /** Whether a similar value is a warning only: `production-eu` for `production.*` may be meant. */
  readonly isOpen?: boolean;
}

/** A form that differs in kind from the one that the rule is for. */
export interface OtherForm {
  readonly from: readonly string[];
  /** The name of the other form; the same form, with other parts, if it is absent. */
  readonly to?: string;
  readonly what: string;
  readonly isError: boolean;
  /** Values of parts for the other form, which may name parts: `{ tag: "{branch}" }`. */
  readonly parts?: Parts;
  /** The part that the rule must restrict; a rule that lets in any value of it says nothing of the form. */
  readonly unlessAny?: string;
}

/** The tokens of an issuer. */
export interface WorkloadModel {
  /** Matches the issuers. */
  readonly issuer: RegExp;
  /** Matches the subjects, if no other issuer has such. */
  readonly subject?: RegExp;
  /** An issuer, where a rule names it by a pattern. */
  readonly sampleIssuer: string;
  /** The forms, the most frequent first. */
  readonly forms: readonly TokenForm[];
  readonly sample: Parts;
  /** From the outermost to the innermost. */
  readonly names: readonly NamedPart[];
  readonly otherForms: readonly OtherForm[];
  readonly sharedValues?: readonly SharedValue[];
  /** Ids that go with names: a recycled name has others. */
  readonly ids: readonly string[];
}

/** The model of an issuer without one: the subject is a name. */
export const genericModel: WorkloadModel = {
  issuer: /(?:)/,
  sampleIssuer: "https://issuer.example",
  forms: [{ name: "subject", sub: "{subject}", claims: {} }],
  sample: { subject: "workload" },
  names: [{ part: "subject", what: "another subject", isBoundary: true }],
  otherForms: [],
  ids: [],
};
