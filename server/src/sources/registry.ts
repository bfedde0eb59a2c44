import { readdir } from 'node:fs/promises'
import { isSource, type Source } from './define.ts'
import { COMMON_FIELDS } from './request.ts'

/** All types of source, by slug. */
export type SourceCatalogue = { get(slug: string): Source | undefined; list(): Source[] }

/** Loads the folder of definitions. A new type of source is one new file there and nothing else. */
export async function loadSources(): Promise<SourceCatalogue> {
  const names = (await readdir(new URL('definitions/', import.meta.url)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort()
  return createSources(
    await Promise.all(
      names.map(async (name) => ({
        file: `${name}.ts`,
        module: (await import(`./definitions/${name}.ts`)) as unknown,
      })),
    ),
  )
}

const SLUG = /^[a-z][a-z0-9_]*$/

/** Builds the catalogue. Refuses a file whose name is not its slug, and a field that every source has. */
export function createSources(definitions: { file: string; module: unknown }[]): SourceCatalogue {
  const sources = new Map<string, Source>()
  for (const { file, module } of definitions) {
    const source = readDefault(module)
    const at = `sources/definitions/${file}`
    if (!isSource(source)) throw new Error(`${at} must export a default made by defineSource`)
    const { slug } = source
    if (file !== `${slug}.ts` || !SLUG.test(slug))
      throw new Error(`${at} defines the source ${slug}: rename the file to ${slug}.ts`)
    const reserved = Object.keys(source.body.shape).find((name) => COMMON_FIELDS.has(name))
    if (reserved !== undefined)
      throw new Error(`${at}: the field name ${reserved} is reserved, because every source has it`)
    sources.set(slug, source)
  }
  const sorted = [...sources.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1))
  return { get: (slug) => sources.get(slug), list: () => sorted }
}

function readDefault(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
}
