// The thread of reader.ts. Plain JavaScript, because the bundle has a file of the same name (build/bundle.js).
import { serveReader } from "./thread-port.ts";

serveReader();
