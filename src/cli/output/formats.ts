/** The values of `-o`. */
export const formats = ["table", "wide", "json", "yaml", "csv", "id", "name", "tree", "none"] as const;
/** An output format. */
export type Format = (typeof formats)[number];
/** The formats of rows that are not a tree. */
export const rowFormats: readonly Format[] = formats.filter((format) => format !== "tree");
/** The formats of rows with few columns, all of which a table shows. */
export const narrowFormats: readonly Format[] = rowFormats.filter((format) => format !== "wide");
