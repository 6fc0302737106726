/** Limits of CSAF documents. */
export const csafLimits = {
  /** The levels of branches of a product tree. */
  branches: 40,
  /** The levels of relationships between products. */
  relationships: 10,
  /** The products that a list of product ids names. */
  products: 200_000,
  /** The products that all flags, threats, remediations and scores of a vulnerability name. */
  references: 2_000_000,
  /** The statements of a record. Products about which the document says the same share a statement. */
  statements: 5_000,
  /** The size of a record as protobuf, in bytes: the server rejects larger ones. */
  recordBytes: 3.5 * 1024 * 1024,
  /** The text that identifies a product or a part of it, in characters. */
  identifierLength: 4_096,
} as const;

/** The advice in the error for a vulnerability that is too large. */
export const smallerDocuments =
  "import documents of fewer products: many publishers also have one for each update, such as csaf_security_advisory";
