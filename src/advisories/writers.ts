// The writers by format.
import { writeCsaf } from "./csaf/write.ts";
import type { ExportFormat } from "./exported.ts";
import { writeOpenvex } from "./openvex/write.ts";
import { writeOsv } from "./osv/write.ts";
import { writeSecdb } from "./secdb/write.ts";
import type { Writer } from "./writing.ts";

const writers: Readonly<Record<ExportFormat, Writer>> = {
  osv: writeOsv,
  openvex: writeOpenvex,
  csaf: writeCsaf,
  secdb: writeSecdb,
};

/** Returns the writer of a format. */
export function writerOf(format: ExportFormat): Writer {
  return writers[format];
}
