// node:http without an import statement. For an ES module import, Node reads every export of a built-in module, and
// node:http exports the WebSocket client, which loads all of undici: 45 ms and 4 MB.

/** node:http. */
export const http = process.getBuiltinModule("node:http");
