import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the build of the dashboard lies in a checkout. */
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

/** The best first; each with what its files are called. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
export type Coding = (typeof CODINGS)[number][0]

export type BuiltFile = { bytes: Buffer; type: string; coding: Coding | null }

/**
 * The files of one folder of the build, by their names in its listing: what is not listed there is not opened, whatever a path
 * says. They are kept in memory, as they never change; the folder is listed again for a name that is not known yet.
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
    /** The file as the caller may have it compressed; undefined when there is none. */
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

/** `br;q=0` says that it is not wanted. */
function accepts(header: string | undefined, coding: Coding): boolean {
  const named = (header ?? '').split(',').map((part) =>
    part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/),
  )
  return named.some(([name, quality = '1']) => name === coding && Number(quality) > 0)
}
