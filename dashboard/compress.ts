import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const COMPRESSIBLE = /\.(js|css|svg|html)$/
/** Below this a compressed answer saves less than its headers cost. */
const MIN_BYTES = 1024

/** Writes `.br` and `.gz` beside each file of the build, so that the server compresses nothing while it serves. */
export function compress(): Plugin {
  let folder = ''
  return {
    name: 'loam:compress',
    apply: 'build',
    configResolved: ({ root, build }) => void (folder = join(root, build.outDir)),
    closeBundle() {
      // A build that failed has written nothing, and says why itself.
      if (!existsSync(folder)) return
      for (const path of filesOf(folder)) {
        if (!COMPRESSIBLE.test(path) || statSync(path).size < MIN_BYTES) continue
        const bytes = readFileSync(path)
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
