// What the importer and the CAR reader of the JavaScript side make of the same bytes.
// Given on standard input as JSON: files [{path, chunk, width, car}]; told as JSON: for each its root, its blocks, and what the CAR holds.
import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { CarReader } from '@ipld/car'
import { MemoryBlockstore } from 'blockstore-core/memory'
import { importBytes } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'

// A store of theirs keeps blocks by their hashes alone and forgets what the rest of a CID said.
class Noting extends MemoryBlockstore {
  noted = new Set()

  put (cid, bytes, options) {
    this.noted.add(cid.toString())
    return super.put(cid, bytes, options)
  }
}

async function imported ({ path, chunk, width }) {
  const store = new Noting()
  const { cid } = await importBytes(readFileSync(path), store, {
    cidVersion: 1,
    rawLeaves: true,
    chunker: fixedSize({ chunkSize: chunk }),
    layout: balanced({ maxChildrenPerNode: width })
  })
  return { root: cid.toString(), blocks: [...store.noted].sort() }
}

async function unpacked (path) {
  const reader = await CarReader.fromBytes(readFileSync(path))
  const blocks = []
  for await (const { cid, bytes } of reader.blocks()) {
    const digest = createHash('sha256').update(bytes).digest()
    if (!digest.equals(cid.multihash.digest)) throw new Error(`${cid} is not what it says`)
    blocks.push(cid.toString())
  }
  return { roots: (await reader.getRoots()).map(String), blocks: blocks.sort() }
}

const told = []
for (const file of JSON.parse(readFileSync(0))) told.push({ imported: await imported(file), unpacked: await unpacked(file.car) })
process.stdout.write(JSON.stringify(told))
