// Compiles src/*.sol into artifacts/ and test/*.sol into artifacts/test/, or with --check compares with what is there.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const ROOT = dirname(fileURLToPath(import.meta.url));
const EVM_VERSION = "cancun"; // OpenZeppelin 5.7 uses mcopy, which older versions lack
const REBUILD = "make contracts WRITE=1";
const FOLDERS = { src: "artifacts", test: "artifacts/test" };

function main(args) {
  const unknown = args.filter((arg) => arg !== "--check");
  if (unknown.length > 0) fail(`Unknown argument ${unknown.join(" ")}. Usage: node build.mjs [--check]`);

  const deliver = args.includes("--check") ? check : write;
  for (const { path, artifact } of compile()) deliver(path, artifact);
}

function compile() {
  const paths = Object.keys(FOLDERS).flatMap(sources);
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(paths.map((path) => [path, { content: read(path) }])),
    settings: {
      evmVersion: EVM_VERSION,
      viaIR: false,
      optimizer: { enabled: true, runs: 200 },
      // The hash covers file paths and comments: without it the same code gives the same bytes everywhere.
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: resolveImport }));
  refuseProblems(output.errors ?? []);
  return paths.flatMap((path) => Object.entries(output.contracts[path]).filter(isDeployable).map(deliveryFrom(path)));
}

function sources(folder) {
  const names = readdirSync(join(ROOT, folder)).filter((file) => file.endsWith(".sol")).sort();
  return names.map((name) => `${folder}/${name}`);
}

function isDeployable([, contract]) {
  return contract.evm.bytecode.object !== ""; // an interface has none
}

function deliveryFrom(source) {
  const folder = FOLDERS[dirname(source)];
  return (entry) => ({ path: `${folder}/${entry[0]}.json`, artifact: toArtifact(entry) });
}

function resolveImport(path) {
  const file = join("node_modules", path);
  if (existsSync(join(ROOT, file))) return { contents: read(file) };
  return { error: `${file} does not exist; run npm install in contracts/` };
}

function refuseProblems(problems) {
  const serious = problems.filter(isSerious);
  if (serious.length === 0) return;
  const texts = serious.map((problem) => problem.formattedMessage.trim());
  fail(`${texts.join("\n\n")}\n\nThe compiler reported ${serious.length} problem(s); nothing was written.`);
}

function isSerious({ severity, sourceLocation }) {
  // A warning fails too: nobody reads warnings, and a deployed contract cannot be patched. One about a library's own
  // lines is for its authors.
  const isOurs = Object.keys(FOLDERS).some((folder) => sourceLocation?.file.startsWith(`${folder}/`) ?? true);
  return severity === "error" || (severity === "warning" && isOurs);
}

function toArtifact([contractName, contract]) {
  return {
    contractName,
    compiler: solc.version(),
    evmVersion: EVM_VERSION,
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
  };
}

function write(path, artifact) {
  mkdirSync(join(ROOT, dirname(path)), { recursive: true });
  writeFileSync(join(ROOT, path), render(artifact));
  console.log(`Wrote contracts/${path}.`);
}

function check(path, artifact) {
  const difference = describeDifference(path, artifact);
  if (difference) fail(`contracts/${path} ${difference}. Run \`${REBUILD}\` and commit the result.`);
  console.log(`contracts/${path} matches its source.`);
}

function describeDifference(path, artifact) {
  if (!existsSync(join(ROOT, path))) return "does not exist";
  const text = read(path);
  if (text === render(artifact)) return null;
  const committed = parseObject(text);
  if (committed === null) return "is not a JSON object";
  const keys = new Set([...Object.keys(artifact), ...Object.keys(committed)]);
  const changed = [...keys].filter((key) => JSON.stringify(artifact[key]) !== JSON.stringify(committed[key]));
  if (changed.length === 0) return "holds the right values, but is formatted or ordered differently";
  return `differs from what its source compiles to in ${changed.join(", ")}`;
}

function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function render(artifact) {
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

function read(path) {
  return readFileSync(join(ROOT, path), "utf8");
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

main(process.argv.slice(2));
