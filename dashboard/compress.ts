import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const COMPRESSIBLE = /\.(js|css|svg|html)$/
/** The smallest file to compress. For a smaller one, compression saves less than the extra headers cost. */
const MIN_BYTES = 1024

/** Writes `.br` and `.gz` beside each file of the build, so that the server need not compress at request time. */
export function compress(): Plugin {
  let folder = ''
  return {
    name: 'loam:compress',
    apply: 'build',
    configResolved: ({ root, build }) => void (folder = join(root, build.outDir)),
    closeBundle() {
      // A failed build has written nothing and reports its own error.
      if (!existsSync(folder)) return
      for (const path of listFiles(folder)) {
        if (!COMPRESSIBLE.test(path) || statSync(path).size < MIN_BYTES) continue
        const bytes = readFileSync(path)
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
