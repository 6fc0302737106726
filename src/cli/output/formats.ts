/** The values of `-o`. */
export const formats = ["table", "wide", "json", "yaml", "csv", "id", "tree", "none"] as const;
/** An output format. */
export type Format = (typeof formats)[number];
