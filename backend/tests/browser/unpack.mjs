// Unpacks the browser that came as a package of npm: it needs no root and nothing from elsewhere.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

const from = new URL("node_modules/@sparticuz/chromium/bin/", import.meta.url).pathname;
const to = new URL("node_modules/.chromium/", import.meta.url).pathname;

rmSync(to, { recursive: true, force: true });
mkdirSync(to, { recursive: true });
for (const [packed, name] of [["chromium.br", "chromium"], ["al2023.tar.br", "lib.tar"]]) {
  writeFileSync(to + name, brotliDecompressSync(readFileSync(from + packed)));
}
chmodSync(to + "chromium", 0o755);
execFileSync("tar", ["-C", to, "-xf", to + "lib.tar"]);
