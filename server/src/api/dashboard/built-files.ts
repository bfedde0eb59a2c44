import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the dashboard's build in a checkout. */
export const DASHBOARD_FOLDER = fileURLToPath(new URL('../../../../dashboard/dist', import.meta.url))

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
}

/** The compressions a client may accept, best first, each with the file extension of the compressed copy. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
export type Coding = (typeof CODINGS)[number][0]

export type BuiltFile = { bytes: Buffer; type: string; coding: Coding | null }

/**
 * Serves the files of one folder of the build. Only names in the folder's listing are opened, whatever the
 * requested path contains. Contents are kept in memory because built files never change; the folder is listed
 * again for an unknown name.
 */
export function createBuiltFiles(folder: string) {
  const kept = new Map<string, Promise<Buffer>>()
  let names = new Set<string>()

  async function has(name: string): Promise<boolean> {
    if (!names.has(name)) names = new Set(await list(folder))
    return names.has(name)
  }

  function read(name: string): Promise<Buffer> {
    const known = kept.get(name) ?? readFile(join(folder, name))
    kept.set(name, known)
    known.catch(() => kept.delete(name))
    return known
  }

  return {
    /** Returns the file, compressed if the client accepts it, or undefined if no such file exists. */
    async open(name: string, acceptEncoding: string | undefined): Promise<BuiltFile | undefined> {
      const type = TYPES[extname(name)]
      if (type === undefined || !(await has(name))) return undefined
      for (const [coding, ending] of CODINGS) {
        if (accepts(acceptEncoding, coding) && names.has(name + ending)) {
          return { bytes: await read(name + ending), type, coding }
        }
      }
      return { bytes: await read(name), type, coding: null }
    },
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    throw cause
  }
}

/** Returns true if the header accepts the coding. `br;q=0` refuses it. */
function accepts(header: string | undefined, coding: Coding): boolean {
  return (header ?? '').split(',').some((part) => {
    const [name = '', weight = ''] = part.toLowerCase().split(';', 2)
    const [key, quality = '1'] = weight.trim().split('=', 2)
    return name.trim() === coding && (key !== 'q' || Number(quality) > 0)
  })
}
