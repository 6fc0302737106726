/** The values of `-o`. */
export const formats = ["table", "wide", "json", "yaml", "csv", "id", "name", "tree", "none"] as const;
/** An output format. */
export type Format = (typeof formats)[number];
/** The formats of rows that are not a tree. */
export const rowFormats: readonly Format[] = formats.filter((format) => format !== "tree");
/** The formats for rows with few columns: a table shows all of them. */
export const narrowFormats: readonly Format[] = rowFormats.filter((format) => format !== "wide");
